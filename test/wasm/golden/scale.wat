(module
  (type (;0;) (func (param i32 i32 i32 i64 i64 i64)))
  (type (;1;) (func (param i32 i32 i32 i32) (result i32)))
  (type (;2;) (func (param i32 v128 i32)))
  (import "env" "memory" (memory (;0;) 0 65536 shared))
  (import "fault" "outOfRange" (func $outOfRange (type 0)))
  (func $run (export "run") (type 1) (param $record i32) (param $arena i32) (param $block i32) (param $end i32) (result i32)
    (local $blockIdx.x i32) (local $gridDim.x i32) (local $i i32) (local i32 i32 i32 i32 i32) (local $y i32) (local v128 v128 v128 v128) (local $y.length i32) (local v128 v128 v128 v128 v128 v128 v128 i32 v128 i32 i32 f32) (local $a f32) (local i32)
    (local.set $gridDim.x
      (i32.load
        (local.get $record)))
    (local.set $y
      (i32.load offset=16
        (local.get $record)))
    (local.set $y.length
      (i32.load offset=24
        (local.get $record)))
    (local.set $a
      (f32.load offset=32
        (local.get $record)))
    (block  ;; label = @1
      (br_if 0 (;@1;)
        (i32.ge_u
          (local.get $block)
          (local.get $end)))
      (loop  ;; label = @2
        (local.set $blockIdx.x
          (i32.rem_u
            (local.get $block)
            (local.get $gridDim.x)))
        (block  ;; label = @3
          (local.set $i
            (i32.mul
              (local.get $blockIdx.x)
              (i32.const 64)))
          (i32.sub
            (local.get $y.length)
            (i32.const 15))
          (local.set 9
            (i32.const 0))
          (local.set 25
            (select
              (local.tee 27)
              (local.get 9)
              (i32.gt_s
                (local.get 27)
                (local.get 9))))
          (local.set 18
            (i32x4.splat
              (local.get $i)))
          (local.set 20
            (v128.const i32x4 0x00000000 0x00000001 0x00000002 0x00000003))
          (local.set 21
            (i32x4.splat
              (local.get $y.length)))
          (local.set 22
            (v128.const i32x4 0x00000004 0x00000005 0x00000006 0x00000007))
          (local.set 23
            (v128.const i32x4 0x00000008 0x00000009 0x0000000a 0x0000000b))
          (local.set 24
            (v128.const i32x4 0x0000000c 0x0000000d 0x0000000e 0x0000000f))
          (local.set 26
            (f32x4.splat
              (local.get $a)))
          (local.set 7
            (i32.const 0))
          (local.set 8
            (i32.const 64))
          (loop  ;; label = @4
            (block  ;; label = @5
              (block  ;; label = @6
                (local.set 9
                  (i32.add
                    (local.get 7)
                    (i32.const 64)))
                (local.set 11
                  (i32.add
                    (local.get $i)
                    (local.get 7)))
                (local.set 10
                  (i32.add
                    (i32.shl
                      (local.get 11)
                      (i32.const 2))
                    (local.get $y)))
                (loop  ;; label = @7
                  (block  ;; label = @8
                    (block  ;; label = @9
                      (if  ;; label = @10
                        (i32.eqz
                          (local.tee 11
                            (i32.le_s
                              (i32.add
                                (local.get $i)
                                (local.get 7))
                              (i32.sub
                                (local.get $y.length)
                                (i32.const 16)))))
                        (then
                          (local.get 18)
                          (local.set 19
                            (i32x4.splat
                              (local.get 7)))
                          (i32x4.add
                            (local.get 19)
                            (local.get 20))
                          (local.set 13
                            (i32x4.lt_s
                              (i32x4.add)
                              (local.get 21)))
                          (local.set 14
                            (i32x4.lt_s
                              (i32x4.add
                                (local.get 18)
                                (i32x4.add
                                  (local.get 19)
                                  (local.get 22)))
                              (local.get 21)))
                          (local.set 15
                            (i32x4.lt_s
                              (i32x4.add
                                (local.get 18)
                                (i32x4.add
                                  (local.get 19)
                                  (local.get 23)))
                              (local.get 21)))
                          (local.set 16
                            (i32x4.lt_s
                              (i32x4.add
                                (local.get 18)
                                (i32x4.add
                                  (local.get 19)
                                  (local.get 24)))
                              (local.get 21)))
                          (local.set 11
                            (i32x4.all_true
                              (v128.and
                                (v128.and
                                  (v128.and
                                    (local.get 13)
                                    (local.get 14))
                                  (local.get 15))
                                (local.get 16))))))
                      (if  ;; label = @10
                        (local.get 11)
                        (then
                          (br_if 1 (;@9;)
                            (i32.ge_u
                              (i32.add
                                (local.get $i)
                                (local.get 7))
                              (local.get 25)))
                          (v128.store align=4
                            (local.get 10)
                            (f32x4.mul
                              (local.get 26)
                              (v128.load align=4
                                (local.get 10))))
                          (v128.store offset=16 align=4
                            (local.get 10)
                            (f32x4.mul
                              (local.get 26)
                              (v128.load offset=16 align=4
                                (local.get 10))))
                          (v128.store offset=32 align=4
                            (local.get 10)
                            (f32x4.mul
                              (local.get 26)
                              (v128.load offset=32 align=4
                                (local.get 10))))
                          (v128.store offset=48 align=4
                            (local.get 10)
                            (f32x4.mul
                              (local.get 26)
                              (v128.load offset=48 align=4
                                (local.get 10))))
                          (br 2 (;@8;))))
                      (if  ;; label = @10
                        (i32.eqz
                          (v128.any_true
                            (v128.or
                              (v128.or
                                (v128.or
                                  (local.get 13)
                                  (local.get 14))
                                (local.get 15))
                              (local.get 16))))
                        (then
                          (br 2 (;@8;))))
                      (br_if 0 (;@9;)
                        (i32.ge_u
                          (i32.add
                            (local.get $i)
                            (local.get 7))
                          (local.get 25)))
                      (local.set 19
                        (f32x4.mul
                          (local.get 26)
                          (v128.load align=4
                            (local.get 10))))
                      (if  ;; label = @10
                        (i32.eq
                          (local.tee 27
                            (i32x4.bitmask
                              (local.get 13)))
                          (i32.const 15))
                        (then
                          (v128.store align=4
                            (local.get 10)
                            (local.get 19)))
                        (else
                          (call $storeLanes
                            (local.get 10)
                            (local.get 19)
                            (local.get 27))))
                      (local.set 19
                        (f32x4.mul
                          (local.get 26)
                          (v128.load offset=16 align=4
                            (local.get 10))))
                      (if  ;; label = @10
                        (i32.eq
                          (local.tee 27
                            (i32x4.bitmask
                              (local.get 14)))
                          (i32.const 15))
                        (then
                          (v128.store offset=16 align=4
                            (local.get 10)
                            (local.get 19)))
                        (else
                          (call $storeLanes
                            (i32.add
                              (local.get 10)
                              (i32.const 16))
                            (local.get 19)
                            (local.get 27))))
                      (local.set 19
                        (f32x4.mul
                          (local.get 26)
                          (v128.load offset=32 align=4
                            (local.get 10))))
                      (if  ;; label = @10
                        (i32.eq
                          (local.tee 27
                            (i32x4.bitmask
                              (local.get 15)))
                          (i32.const 15))
                        (then
                          (v128.store offset=32 align=4
                            (local.get 10)
                            (local.get 19)))
                        (else
                          (call $storeLanes
                            (i32.add
                              (local.get 10)
                              (i32.const 32))
                            (local.get 19)
                            (local.get 27))))
                      (local.set 19
                        (f32x4.mul
                          (local.get 26)
                          (v128.load offset=48 align=4
                            (local.get 10))))
                      (if  ;; label = @10
                        (i32.eq
                          (local.tee 27
                            (i32x4.bitmask
                              (local.get 16)))
                          (i32.const 15))
                        (then
                          (v128.store offset=48 align=4
                            (local.get 10)
                            (local.get 19)))
                        (else
                          (call $storeLanes
                            (i32.add
                              (local.get 10)
                              (i32.const 48))
                            (local.get 19)
                            (local.get 27))))
                      (br 1 (;@8;)))
                    (local.set 27
                      (i32.add
                        (local.tee 11
                          (local.get 7))
                        (i32.const 16)))
                    (loop  ;; label = @9
                      (if  ;; label = @10
                        (i32.lt_s
                          (i32.add
                            (local.get $i)
                            (local.get 11))
                          (local.get $y.length))
                        (then
                          (local.set 28
                            (i32.add
                              (local.get $i)
                              (local.get 11)))
                          (local.get $a)
                          (local.set 31
                            (i32.add
                              (local.get $i)
                              (local.get 11)))
                          (if  ;; label = @11
                            (i32.ge_u
                              (local.get 31)
                              (local.get $y.length))
                            (then
                              (call $outOfRange
                                (i32.const 0)
                                (local.get 11)
                                (local.get $block)
                                (i64.extend_i32_s
                                  (local.get 31))
                                (i64.const 1)
                                (i64.extend_i32_u
                                  (local.get $y.length)))
                              (return
                                (i32.const 1))))
                          (f32.load
                            (i32.add
                              (i32.shl
                                (local.get 31)
                                (i32.const 2))
                              (local.get $y)))
                          (local.set 29
                            (f32.mul))
                          (if  ;; label = @11
                            (i32.ge_u
                              (local.get 28)
                              (local.get $y.length))
                            (then
                              (call $outOfRange
                                (i32.const 1)
                                (local.get 11)
                                (local.get $block)
                                (i64.extend_i32_s
                                  (local.get 28))
                                (i64.const 1)
                                (i64.extend_i32_u
                                  (local.get $y.length)))
                              (return
                                (i32.const 1))))
                          (f32.store
                            (i32.add
                              (i32.shl
                                (local.get 28)
                                (i32.const 2))
                              (local.get $y))
                            (local.get 29))))
                      (br_if 0 (;@9;)
                        (i32.lt_u
                          (local.tee 11
                            (i32.add
                              (local.get 11)
                              (i32.const 1)))
                          (local.get 27)))))
                  (local.set 10
                    (i32.add
                      (local.get 10)
                      (i32.const 64)))
                  (br_if 0 (;@7;)
                    (i32.lt_u
                      (local.tee 7
                        (i32.add
                          (local.get 7)
                          (i32.const 16)))
                      (local.get 9))))
                (br 1 (;@5;)))
              (br_if 0 (;@5;)
                (i32.ge_u
                  (local.get 7)
                  (local.get 8)))
              (loop  ;; label = @6
                (block  ;; label = @7
                  (if  ;; label = @8
                    (i32.lt_s
                      (i32.add
                        (local.get $i)
                        (local.get 7))
                      (local.get $y.length))
                    (then
                      (local.set 9
                        (i32.add
                          (local.get $i)
                          (local.get 7)))
                      (local.get $a)
                      (local.set 27
                        (i32.add
                          (local.get $i)
                          (local.get 7)))
                      (if  ;; label = @9
                        (i32.ge_u
                          (local.get 27)
                          (local.get $y.length))
                        (then
                          (call $outOfRange
                            (i32.const 0)
                            (local.get 7)
                            (local.get $block)
                            (i64.extend_i32_s
                              (local.get 27))
                            (i64.const 1)
                            (i64.extend_i32_u
                              (local.get $y.length)))
                          (return
                            (i32.const 1))))
                      (f32.load
                        (i32.add
                          (i32.shl
                            (local.get 27)
                            (i32.const 2))
                          (local.get $y)))
                      (local.set 29
                        (f32.mul))
                      (if  ;; label = @9
                        (i32.ge_u
                          (local.get 9)
                          (local.get $y.length))
                        (then
                          (call $outOfRange
                            (i32.const 1)
                            (local.get 7)
                            (local.get $block)
                            (i64.extend_i32_s
                              (local.get 9))
                            (i64.const 1)
                            (i64.extend_i32_u
                              (local.get $y.length)))
                          (return
                            (i32.const 1))))
                      (f32.store
                        (i32.add
                          (i32.shl
                            (local.get 9)
                            (i32.const 2))
                          (local.get $y))
                        (local.get 29)))))
                (br_if 0 (;@6;)
                  (i32.lt_u
                    (local.tee 7
                      (i32.add
                        (local.get 7)
                        (i32.const 1)))
                    (local.get 8)))))))
        (br_if 0 (;@2;)
          (i32.lt_u
            (local.tee $block
              (i32.add
                (local.get $block)
                (i32.const 1)))
            (local.get $end)))))
    (i32.const 0))
  (func $storeLanes (type 2) (param $address i32) (param $value v128) (param $lanes i32)
    (if  ;; label = @1
      (i32.and
        (local.get $lanes)
        (i32.const 1))
      (then
        (i32.store
          (local.get $address)
          (i32x4.extract_lane 0
            (local.get $value)))))
    (if  ;; label = @1
      (i32.and
        (local.get $lanes)
        (i32.const 2))
      (then
        (i32.store offset=4
          (local.get $address)
          (i32x4.extract_lane 1
            (local.get $value)))))
    (if  ;; label = @1
      (i32.and
        (local.get $lanes)
        (i32.const 4))
      (then
        (i32.store offset=8
          (local.get $address)
          (i32x4.extract_lane 2
            (local.get $value)))))
    (if  ;; label = @1
      (i32.and
        (local.get $lanes)
        (i32.const 8))
      (then
        (i32.store offset=12
          (local.get $address)
          (i32x4.extract_lane 3
            (local.get $value)))))))
