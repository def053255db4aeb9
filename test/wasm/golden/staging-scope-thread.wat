(module
  (type (;0;) (func (param i32 i32 i32 i64 i64 i64 i64)))
  (type (;1;) (func (param i32 i32 i32 i64 i64 i64)))
  (type (;2;) (func (param i32 i32 i32 i32 i32 i32) (result i32)))
  (type (;3;) (func (param i32 i32 i32 i32) (result i32)))
  (import "env" "memory" (memory (;0;) 0 65536 shared))
  (import "fault" "copy" (func $copy (type 0)))
  (import "fault" "outOfRange" (func $outOfRange (type 1)))
  (func $advance (type 2) (param $record i32) (param $arena i32) (param $block i32) (param $end i32) (param $resumes i32) (param $most i32) (result i32)
    (local $left i32) (local $scratch i32) (local $fetchBatch i32) (local $computeBatch i32) (local $batchCount i32) (local i32 i32 i32 i32 i64 i64 i64 i32 i32 i32) (local $globalIn.length i32) (local i32 i32) (local $globalIn i32) (local i32 i32 i32) (local $shared i32) (local i32 i32 i32 i32) (local $blockIdx.x i32) (local $gridDim.x i32) (local i32 i32 i32) (local $globalOut i32) (local v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 v128 i32) (local $globalOut.length i32)
    (local.set $scratch
      (i32.add
        (i32.and
          (i32.add
            (i32.add
              (i32.load offset=64
                (local.get $record))
              (i32.mul
                (i32.load offset=72
                  (local.get $record))
                (i32.const 4)))
            (i32.const 15))
          (i32.const -16))
        (local.get $arena)))
    (local.set $batchCount
      (i32.load offset=48
        (local.get $record)))
    (local.set $globalIn.length
      (i32.load offset=40
        (local.get $record)))
    (local.set $globalIn
      (i32.load offset=32
        (local.get $record)))
    (local.set $shared
      (i32.add
        (i32.load offset=64
          (local.get $record))
        (local.get $arena)))
    (local.set $gridDim.x
      (i32.load
        (local.get $record)))
    (local.set $globalOut
      (i32.load offset=16
        (local.get $record)))
    (local.set $globalOut.length
      (i32.load offset=24
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
          (local.set $left
            (local.get $most))
          (if  ;; label = @4
            (local.get $resumes)
            (then
              (local.set $fetchBatch
                (i32.load offset=8
                  (local.get $scratch)))
              (local.set $computeBatch
                (i32.load offset=16
                  (local.get $scratch))))
            (else
              (local.set $fetchBatch
                (i32.const 0))
              (local.set $computeBatch
                (i32.const 0))))
          (block  ;; label = @4
            (loop  ;; label = @5
              (br_if 1 (;@4;)
                (i32.eqz
                  (i32.lt_s
                    (local.get $computeBatch)
                    (local.get $batchCount))))
              (block  ;; label = @6
                (if  ;; label = @7
                  (i32.eqz
                    (local.get $left))
                  (then
                    (i32.store
                      (local.get $scratch)
                      (local.get $block))
                    (i32.store offset=8
                      (local.get $scratch)
                      (local.get $fetchBatch))
                    (i32.store offset=16
                      (local.get $scratch)
                      (local.get $computeBatch))
                    (return
                      (i32.const 2))))
                (local.set $left
                  (i32.sub
                    (local.get $left)
                    (i32.const 1)))
                (local.set 11
                  (local.get $fetchBatch))
                (local.set 18
                  (i32.mul
                    (local.get $blockIdx.x)
                    (i32.const 64)))
                (local.set 19
                  (i32.mul
                    (local.get $gridDim.x)
                    (i32.const 64)))
                (local.set 20
                  (i32.sub
                    (local.get $batchCount)
                    (i32.const 1)))
                (local.set 25
                  (i32.add
                    (local.get $computeBatch)
                    (i32.const 2)))
                (local.set 12
                  (i32.const 0))
                (local.set 13
                  (i32.const 64))
                (loop  ;; label = @7
                  (block  ;; label = @8
                    (block  ;; label = @9
                      (local.set $fetchBatch
                        (local.get 11))
                      (local.set 16
                        (local.tee 15
                          (i64.extend_i32_s
                            (i32.add
                              (i32.add
                                (local.get 18)
                                (i32.mul
                                  (local.get 19)
                                  (local.get $fetchBatch)))
                              (local.get 12)))))
                      (br_if 0 (;@9;)
                        (i32.gt_s
                          (local.get 20)
                          (i32.const 2147483646)))
                      (br_if 0 (;@9;)
                        (i64.gt_u
                          (i64.add
                            (local.tee 17
                              (i64.mul
                                (select
                                  (local.tee 17
                                    (i64.sub
                                      (i64.extend_i32_s
                                        (local.get 20))
                                      (i64.extend_i32_s
                                        (local.get $fetchBatch))))
                                  (i64.const 0)
                                  (i64.gt_s
                                    (local.get 17)
                                    (i64.const 0)))
                                (i64.extend_i32_s
                                  (local.get 19))))
                            (i64.const 1099511627776))
                          (i64.const 2199023255552)))
                      (local.set 15
                        (i64.add
                          (local.get 15)
                          (select
                            (local.get 17)
                            (i64.const 0)
                            (i64.lt_s
                              (local.get 17)
                              (i64.const 0)))))
                      (local.set 16
                        (i64.add
                          (local.get 16)
                          (select
                            (local.get 17)
                            (i64.const 0)
                            (i64.gt_s
                              (local.get 17)
                              (i64.const 0)))))
                      (br_if 0 (;@9;)
                        (i64.lt_s
                          (local.get 15)
                          (i64.const 0)))
                      (br_if 0 (;@9;)
                        (i64.gt_s
                          (i64.add
                            (local.get 16)
                            (i64.const 64))
                          (i64.extend_i32_u
                            (local.get $globalIn.length))))
                      (local.set 14
                        (i32.add
                          (local.get 12)
                          (i32.const 64)))
                      (loop  ;; label = @10
                        (local.set $fetchBatch
                          (local.get 11))
                        (block  ;; label = @11
                          (block  ;; label = @12
                            (local.set 23
                              (i32.add
                                (i32.add
                                  (local.get 18)
                                  (i32.mul
                                    (local.get 19)
                                    (local.get $fetchBatch)))
                                (local.get 12)))
                            (local.set 22
                              (i32.add
                                (i32.shl
                                  (local.get 23)
                                  (i32.const 2))
                                (local.get $globalIn)))
                            (local.set 23
                              (i32.mul
                                (local.get 19)
                                (i32.const 4)))
                            (block  ;; label = @13
                              (loop  ;; label = @14
                                (br_if 1 (;@13;)
                                  (i32.eqz
                                    (if (result i32)  ;; label = @15
                                      (i32.lt_s
                                        (local.get $fetchBatch)
                                        (local.get $batchCount))
                                      (then
                                        (i32.lt_s
                                          (local.get $fetchBatch)
                                          (local.get 25)))
                                      (else
                                        (i32.const 0)))))
                                (block  ;; label = @15
                                  (br_if 3 (;@12;)
                                    (i32.ge_u
                                      (i32.add
                                        (i32.mul
                                          (i32.rem_s
                                            (local.get $fetchBatch)
                                            (i32.const 2))
                                          (i32.const 64))
                                        (local.get 12))
                                      (i32.const 97)))
                                  (local.set 27
                                    (i32.add
                                      (i32.mul
                                        (i32.rem_s
                                          (local.get $fetchBatch)
                                          (i32.const 2))
                                        (i32.const 64))
                                      (local.get 12)))
                                  (local.set 26
                                    (i32.add
                                      (i32.shl
                                        (local.get 27)
                                        (i32.const 2))
                                      (local.get $shared)))
                                  (v128.store align=4
                                    (local.get 26)
                                    (v128.load align=4
                                      (local.get 22)))
                                  (v128.store offset=16 align=4
                                    (local.get 26)
                                    (v128.load offset=16 align=4
                                      (local.get 22)))
                                  (v128.store offset=32 align=4
                                    (local.get 26)
                                    (v128.load offset=32 align=4
                                      (local.get 22)))
                                  (v128.store offset=48 align=4
                                    (local.get 26)
                                    (v128.load offset=48 align=4
                                      (local.get 22)))
                                  (v128.store offset=64 align=4
                                    (local.get 26)
                                    (v128.load offset=64 align=4
                                      (local.get 22)))
                                  (v128.store offset=80 align=4
                                    (local.get 26)
                                    (v128.load offset=80 align=4
                                      (local.get 22)))
                                  (v128.store offset=96 align=4
                                    (local.get 26)
                                    (v128.load offset=96 align=4
                                      (local.get 22)))
                                  (v128.store offset=112 align=4
                                    (local.get 26)
                                    (v128.load offset=112 align=4
                                      (local.get 22))))
                                (local.set $fetchBatch
                                  (i32.add
                                    (local.get $fetchBatch)
                                    (i32.const 1)))
                                (local.set 22
                                  (i32.add
                                    (local.get 22)
                                    (local.get 23)))
                                (br 0 (;@14;))))
                            (br 1 (;@11;)))
                          (local.set 29
                            (local.get $fetchBatch))
                          (local.set 27
                            (i32.add
                              (local.tee 23
                                (local.get 12))
                              (i32.const 32)))
                          (loop  ;; label = @12
                            (local.set $fetchBatch
                              (local.get 29))
                            (block  ;; label = @13
                              (loop  ;; label = @14
                                (br_if 1 (;@13;)
                                  (i32.eqz
                                    (if (result i32)  ;; label = @15
                                      (i32.lt_s
                                        (local.get $fetchBatch)
                                        (local.get $batchCount))
                                      (then
                                        (i32.lt_s
                                          (local.get $fetchBatch)
                                          (local.get 25)))
                                      (else
                                        (i32.const 0)))))
                                (block  ;; label = @15
                                  (local.set 30
                                    (i32.add
                                      (i32.mul
                                        (i32.rem_s
                                          (local.get $fetchBatch)
                                          (i32.const 2))
                                        (i32.const 64))
                                      (local.get 23)))
                                  (local.set 31
                                    (i32.add
                                      (i32.add
                                        (local.get 18)
                                        (i32.mul
                                          (local.get 19)
                                          (local.get $fetchBatch)))
                                      (local.get 23)))
                                  (local.set 32
                                    (i32.const 1))
                                  (if  ;; label = @16
                                    (i32.or
                                      (i32.or
                                        (i32.gt_u
                                          (local.get 32)
                                          (local.get $globalIn.length))
                                        (i32.gt_u
                                          (local.get 31)
                                          (i32.sub
                                            (local.get $globalIn.length)
                                            (local.get 32))))
                                      (i32.or
                                        (i32.gt_u
                                          (local.get 32)
                                          (i32.const 128))
                                        (i32.gt_u
                                          (local.get 30)
                                          (i32.sub
                                            (i32.const 128)
                                            (local.get 32)))))
                                    (then
                                      (call $copy
                                        (i32.const 0)
                                        (local.get 23)
                                        (local.get $block)
                                        (i64.extend_i32_s
                                          (local.get 30))
                                        (i64.extend_i32_s
                                          (local.get 31))
                                        (i64.extend_i32_s
                                          (local.get 32))
                                        (i64.const 0))
                                      (return
                                        (i32.const 1))))
                                  (i32.store
                                    (i32.add
                                      (i32.shl
                                        (local.get 30)
                                        (i32.const 2))
                                      (local.get $shared))
                                    (i32.load
                                      (i32.add
                                        (i32.shl
                                          (local.get 31)
                                          (i32.const 2))
                                        (local.get $globalIn)))))
                                (local.set $fetchBatch
                                  (i32.add
                                    (local.get $fetchBatch)
                                    (i32.const 1)))
                                (br 0 (;@14;))))
                            (br_if 0 (;@12;)
                              (i32.lt_u
                                (local.tee 23
                                  (i32.add
                                    (local.get 23)
                                    (i32.const 1)))
                                (local.get 27)))))
                        (br_if 0 (;@10;)
                          (i32.lt_u
                            (local.tee 12
                              (i32.add
                                (local.get 12)
                                (i32.const 32)))
                            (local.get 14))))
                      (br 1 (;@8;)))
                    (br_if 0 (;@8;)
                      (i32.ge_u
                        (local.get 12)
                        (local.get 13)))
                    (loop  ;; label = @9
                      (block  ;; label = @10
                        (local.set $fetchBatch
                          (local.get 11))
                        (block  ;; label = @11
                          (loop  ;; label = @12
                            (br_if 1 (;@11;)
                              (i32.eqz
                                (if (result i32)  ;; label = @13
                                  (i32.lt_s
                                    (local.get $fetchBatch)
                                    (local.get $batchCount))
                                  (then
                                    (i32.lt_s
                                      (local.get $fetchBatch)
                                      (local.get 25)))
                                  (else
                                    (i32.const 0)))))
                            (block  ;; label = @13
                              (local.set 14
                                (i32.add
                                  (i32.mul
                                    (i32.rem_s
                                      (local.get $fetchBatch)
                                      (i32.const 2))
                                    (i32.const 64))
                                  (local.get 12)))
                              (local.set 29
                                (i32.add
                                  (i32.add
                                    (local.get 18)
                                    (i32.mul
                                      (local.get 19)
                                      (local.get $fetchBatch)))
                                  (local.get 12)))
                              (local.set 27
                                (i32.const 1))
                              (if  ;; label = @14
                                (i32.or
                                  (i32.or
                                    (i32.gt_u
                                      (local.get 27)
                                      (local.get $globalIn.length))
                                    (i32.gt_u
                                      (local.get 29)
                                      (i32.sub
                                        (local.get $globalIn.length)
                                        (local.get 27))))
                                  (i32.or
                                    (i32.gt_u
                                      (local.get 27)
                                      (i32.const 128))
                                    (i32.gt_u
                                      (local.get 14)
                                      (i32.sub
                                        (i32.const 128)
                                        (local.get 27)))))
                                (then
                                  (call $copy
                                    (i32.const 1)
                                    (local.get 12)
                                    (local.get $block)
                                    (i64.extend_i32_s
                                      (local.get 14))
                                    (i64.extend_i32_s
                                      (local.get 29))
                                    (i64.extend_i32_s
                                      (local.get 27))
                                    (i64.const 0))
                                  (return
                                    (i32.const 1))))
                              (i32.store
                                (i32.add
                                  (i32.shl
                                    (local.get 14)
                                    (i32.const 2))
                                  (local.get $shared))
                                (i32.load
                                  (i32.add
                                    (i32.shl
                                      (local.get 29)
                                      (i32.const 2))
                                    (local.get $globalIn)))))
                            (local.set $fetchBatch
                              (i32.add
                                (local.get $fetchBatch)
                                (i32.const 1)))
                            (br 0 (;@12;)))))
                      (br_if 0 (;@9;)
                        (i32.lt_u
                          (local.tee 12
                            (i32.add
                              (local.get 12)
                              (i32.const 1)))
                          (local.get 13))))))
                (local.set 35
                  (i32.add
                    (i32.mul
                      (local.get $blockIdx.x)
                      (i32.const 64))
                    (i32.mul
                      (i32.mul
                        (local.get $gridDim.x)
                        (i32.const 64))
                      (local.get $computeBatch))))
                (i32.sub
                  (local.get $globalOut.length)
                  (i32.const 63))
                (local.set 27
                  (i32.const 0))
                (local.set 36
                  (select
                    (local.tee 29)
                    (local.get 27)
                    (i32.gt_s
                      (local.get 29)
                      (local.get 27))))
                (local.set 50
                  (i32.mul
                    (i32.rem_s
                      (local.get $computeBatch)
                      (i32.const 2))
                    (i32.const 64)))
                (local.set 41
                  (i32x4.splat
                    (local.get 50)))
                (local.set 43
                  (v128.const i32x4 0x00000000 0x00000001 0x00000002 0x00000003))
                (local.set 44
                  (i32x4.splat
                    (i32.const 1)))
                (local.set 47
                  (v128.const i32x4 0x0000003f 0x0000003f 0x0000003f 0x0000003f))
                (local.set 48
                  (i32x4.splat
                    (i32.const 3)))
                (local.set 49
                  (v128.const i32x4 0x00000004 0x00000005 0x00000006 0x00000007))
                (local.set 13
                  (i32.const 0))
                (local.set 12
                  (i32.const 64))
                (loop  ;; label = @7
                  (block  ;; label = @8
                    (block  ;; label = @9
                      (br_if 0 (;@9;)
                        (i32.ge_u
                          (i32.add
                            (local.get 35)
                            (local.get 13))
                          (local.get 36)))
                      (local.set 27
                        (i32.add
                          (local.get 13)
                          (i32.const 64)))
                      (local.set 29
                        (i32.add
                          (local.get 35)
                          (local.get 13)))
                      (local.set 37
                        (i32.add
                          (i32.shl
                            (local.get 29)
                            (i32.const 2))
                          (local.get $globalOut)))
                      (loop  ;; label = @10
                        (local.get 37)
                        (local.get 41)
                        (local.set 42
                          (i32x4.splat
                            (local.get 13)))
                        (i32x4.sub
                          (v128.and
                            (i32x4.add
                              (local.tee 46
                                (v128.and
                                  (i32x4.shr_s
                                    (local.tee 45
                                      (i32x4.add
                                        (i32x4.add
                                          (local.get 42)
                                          (local.get 43))
                                        (local.get 44)))
                                    (i32.const 31))
                                  (local.get 47)))
                              (local.get 45))
                            (local.get 47))
                          (local.get 46))
                        (local.set 40
                          (i32x4.add))
                        (local.set 29
                          (i32x4.extract_lane 0
                            (local.get 40)))
                        (local.set 39
                          (i32x4.splat
                            (i32.load
                              (i32.add
                                (i32.shl
                                  (local.get 29)
                                  (i32.const 2))
                                (local.get $shared)))))
                        (local.get 39)
                        (local.set 29
                          (i32x4.extract_lane 1
                            (local.get 40)))
                        (i32.load
                          (i32.add
                            (i32.shl
                              (local.get 29)
                              (i32.const 2))
                            (local.get $shared)))
                        (local.set 39
                          (i32x4.replace_lane 1))
                        (local.get 39)
                        (local.set 29
                          (i32x4.extract_lane 2
                            (local.get 40)))
                        (i32.load
                          (i32.add
                            (i32.shl
                              (local.get 29)
                              (i32.const 2))
                            (local.get $shared)))
                        (local.set 39
                          (i32x4.replace_lane 2))
                        (local.get 39)
                        (local.set 29
                          (i32x4.extract_lane 3
                            (local.get 40)))
                        (i32.load
                          (i32.add
                            (i32.shl
                              (local.get 29)
                              (i32.const 2))
                            (local.get $shared)))
                        (local.set 39
                          (i32x4.replace_lane 3))
                        (i32x4.add
                          (i32x4.mul
                            (local.get 39)
                            (local.get 48))
                          (local.get 44))
                        (v128.store align=4)
                        (local.get 37)
                        (local.set 39
                          (i32x4.add
                            (local.get 41)
                            (i32x4.sub
                              (v128.and
                                (i32x4.add
                                  (local.tee 46
                                    (v128.and
                                      (i32x4.shr_s
                                        (local.tee 45
                                          (i32x4.add
                                            (i32x4.add
                                              (local.get 42)
                                              (local.get 49))
                                            (local.get 44)))
                                        (i32.const 31))
                                      (local.get 47)))
                                  (local.get 45))
                                (local.get 47))
                              (local.get 46))))
                        (local.set 29
                          (i32x4.extract_lane 0
                            (local.get 39)))
                        (local.set 40
                          (i32x4.splat
                            (i32.load
                              (i32.add
                                (i32.shl
                                  (local.get 29)
                                  (i32.const 2))
                                (local.get $shared)))))
                        (local.get 40)
                        (local.set 29
                          (i32x4.extract_lane 1
                            (local.get 39)))
                        (i32.load
                          (i32.add
                            (i32.shl
                              (local.get 29)
                              (i32.const 2))
                            (local.get $shared)))
                        (local.set 40
                          (i32x4.replace_lane 1))
                        (local.get 40)
                        (local.set 29
                          (i32x4.extract_lane 2
                            (local.get 39)))
                        (i32.load
                          (i32.add
                            (i32.shl
                              (local.get 29)
                              (i32.const 2))
                            (local.get $shared)))
                        (local.set 40
                          (i32x4.replace_lane 2))
                        (local.get 40)
                        (local.set 29
                          (i32x4.extract_lane 3
                            (local.get 39)))
                        (i32.load
                          (i32.add
                            (i32.shl
                              (local.get 29)
                              (i32.const 2))
                            (local.get $shared)))
                        (local.set 40
                          (i32x4.replace_lane 3))
                        (i32x4.add
                          (i32x4.mul
                            (local.get 40)
                            (local.get 48))
                          (local.get 44))
                        (v128.store offset=16 align=4)
                        (local.set 37
                          (i32.add
                            (local.get 37)
                            (i32.const 32)))
                        (br_if 0 (;@10;)
                          (i32.lt_u
                            (local.tee 13
                              (i32.add
                                (local.get 13)
                                (i32.const 8)))
                            (local.get 27))))
                      (br 1 (;@8;)))
                    (br_if 0 (;@8;)
                      (i32.ge_u
                        (local.get 13)
                        (local.get 12)))
                    (loop  ;; label = @9
                      (block  ;; label = @10
                        (local.set 27
                          (i32.add
                            (local.get 35)
                            (local.get 13)))
                        (local.set 14
                          (i32.add
                            (local.get 50)
                            (i32.rem_s
                              (i32.add
                                (local.get 13)
                                (i32.const 1))
                              (i32.const 64))))
                        (local.set 29
                          (i32.add
                            (i32.mul
                              (i32.load
                                (i32.add
                                  (i32.shl
                                    (local.get 14)
                                    (i32.const 2))
                                  (local.get $shared)))
                              (i32.const 3))
                            (i32.const 1)))
                        (if  ;; label = @11
                          (i32.ge_u
                            (local.get 27)
                            (local.get $globalOut.length))
                          (then
                            (call $outOfRange
                              (i32.const 2)
                              (local.get 13)
                              (local.get $block)
                              (i64.extend_i32_s
                                (local.get 27))
                              (i64.const 1)
                              (i64.extend_i32_u
                                (local.get $globalOut.length)))
                            (return
                              (i32.const 1))))
                        (i32.store
                          (i32.add
                            (i32.shl
                              (local.get 27)
                              (i32.const 2))
                            (local.get $globalOut))
                          (local.get 29)))
                      (br_if 0 (;@9;)
                        (i32.lt_u
                          (local.tee 13
                            (i32.add
                              (local.get 13)
                              (i32.const 1)))
                          (local.get 12)))))))
              (local.set $computeBatch
                (i32.add
                  (local.get $computeBatch)
                  (i32.const 1)))
              (br 0 (;@5;)))))
        (br_if 0 (;@2;)
          (i32.lt_u
            (local.tee $block
              (i32.add
                (local.get $block)
                (i32.const 1)))
            (local.get $end)))))
    (i32.const 0))
  (func $run (export "run") (type 3) (param $record i32) (param $arena i32) (param $block i32) (param $end i32) (result i32)
    (local $scratch i32) (local i32 i32 i32 i32)
    (local.set $scratch
      (i32.add
        (i32.and
          (i32.add
            (i32.add
              (i32.load offset=64
                (local.get $record))
              (i32.mul
                (i32.load offset=72
                  (local.get $record))
                (i32.const 4)))
            (i32.const 15))
          (i32.const -16))
        (local.get $arena)))
    (loop  ;; label = @1
      (local.set 5
        (local.get $arena))
      (block  ;; label = @2
        (loop  ;; label = @3
          (br_if 1 (;@2;)
            (i32.ge_u
              (local.get $block)
              (local.get $end)))
          (local.set 8
            (call $advance
              (local.get $record)
              (local.get 5)
              (local.get $block)
              (local.get $end)
              (i32.const 0)
              (select
                (i32.const -1)
                (i32.const 3)
                (i32.and
                  (i32.eq
                    (local.get 5)
                    (local.get $arena))
                  (i32.eq
                    (i32.add
                      (local.get $block)
                      (i32.const 1))
                    (local.get $end))))))
          (if  ;; label = @4
            (i32.eq
              (local.get 8)
              (i32.const 1))
            (then
              (local.set 6
                (local.get 5))
              (block  ;; label = @5
                (local.set 5
                  (local.get $arena))
                (loop  ;; label = @6
                  (br_if 1 (;@5;)
                    (i32.ge_u
                      (local.get 5)
                      (local.get 6)))
                  (if  ;; label = @7
                    (i32.ne
                      (i32.load
                        (i32.sub
                          (i32.add
                            (local.get 5)
                            (local.get $scratch))
                          (local.get $arena)))
                      (i32.const -1))
                    (then
                      (local.set 8
                        (call $advance
                          (local.get $record)
                          (local.get 5)
                          (local.tee 8
                            (i32.load
                              (i32.sub
                                (i32.add
                                  (local.get 5)
                                  (local.get $scratch))
                                (local.get $arena))))
                          (i32.add
                            (local.get 8)
                            (i32.const 1))
                          (i32.const 1)
                          (i32.const -1)))
                      (if  ;; label = @8
                        (i32.eq
                          (local.get 8)
                          (i32.const 1))
                        (then
                          (return
                            (i32.const 1))))))
                  (local.set 5
                    (i32.add
                      (local.get 5)
                      (i32.const 768)))
                  (br 0 (;@6;))))
              (return
                (i32.const 1))))
          (if  ;; label = @4
            (i32.eq
              (local.get 8)
              (i32.const 0))
            (then
              (local.set $block
                (local.get $end))
              (br 2 (;@2;))))
          (local.set $block
            (i32.add
              (i32.load
                (i32.sub
                  (i32.add
                    (local.get 5)
                    (local.get $scratch))
                  (local.get $arena)))
              (i32.const 1)))
          (local.set 5
            (i32.add
              (local.get 5)
              (i32.const 768)))
          (br_if 0 (;@3;)
            (i32.lt_u
              (i32.sub
                (local.get 5)
                (local.get $arena))
              (i32.const 49152)))))
      (local.set 6
        (local.get 5))
      (loop  ;; label = @2
        (local.set 7
          (i32.const 0))
        (block  ;; label = @3
          (local.set 5
            (local.get $arena))
          (loop  ;; label = @4
            (br_if 1 (;@3;)
              (i32.ge_u
                (local.get 5)
                (local.get 6)))
            (if  ;; label = @5
              (i32.ne
                (i32.load
                  (i32.sub
                    (i32.add
                      (local.get 5)
                      (local.get $scratch))
                    (local.get $arena)))
                (i32.const -1))
              (then
                (local.set 8
                  (call $advance
                    (local.get $record)
                    (local.get 5)
                    (local.tee 8
                      (i32.load
                        (i32.sub
                          (i32.add
                            (local.get 5)
                            (local.get $scratch))
                          (local.get $arena))))
                    (i32.add
                      (local.get 8)
                      (i32.const 1))
                    (i32.const 1)
                    (i32.const 3)))
                (if  ;; label = @6
                  (i32.eq
                    (local.get 8)
                    (i32.const 1))
                  (then
                    (local.set 6
                      (local.get 5))
                    (block  ;; label = @7
                      (local.set 5
                        (local.get $arena))
                      (loop  ;; label = @8
                        (br_if 1 (;@7;)
                          (i32.ge_u
                            (local.get 5)
                            (local.get 6)))
                        (if  ;; label = @9
                          (i32.ne
                            (i32.load
                              (i32.sub
                                (i32.add
                                  (local.get 5)
                                  (local.get $scratch))
                                (local.get $arena)))
                            (i32.const -1))
                          (then
                            (local.set 8
                              (call $advance
                                (local.get $record)
                                (local.get 5)
                                (local.tee 8
                                  (i32.load
                                    (i32.sub
                                      (i32.add
                                        (local.get 5)
                                        (local.get $scratch))
                                      (local.get $arena))))
                                (i32.add
                                  (local.get 8)
                                  (i32.const 1))
                                (i32.const 1)
                                (i32.const -1)))
                            (if  ;; label = @10
                              (i32.eq
                                (local.get 8)
                                (i32.const 1))
                              (then
                                (return
                                  (i32.const 1))))))
                        (local.set 5
                          (i32.add
                            (local.get 5)
                            (i32.const 768)))
                        (br 0 (;@8;))))
                    (return
                      (i32.const 1))))
                (if  ;; label = @6
                  (i32.eq
                    (local.get 8)
                    (i32.const 0))
                  (then
                    (i32.store
                      (i32.sub
                        (i32.add
                          (local.get 5)
                          (local.get $scratch))
                        (local.get $arena))
                      (i32.const -1)))
                  (else
                    (local.set 7
                      (i32.const 1))))))
            (local.set 5
              (i32.add
                (local.get 5)
                (i32.const 768)))
            (br 0 (;@4;))))
        (br_if 0 (;@2;)
          (local.get 7)))
      (br_if 0 (;@1;)
        (i32.lt_u
          (local.get $block)
          (local.get $end))))
    (i32.const 0)))
