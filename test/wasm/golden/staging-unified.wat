(module
  (type (;0;) (func (param i32 i32 i32)))
  (type (;1;) (func (param i32 i32 i32 i64 i64 i64 i64)))
  (type (;2;) (func (param i32 i32 i32 i64 i64 i64)))
  (type (;3;) (func (param i32 i32 i32 i32) (result i32)))
  (import "env" "memory" (memory (;0;) 0 65536 shared))
  (import "fault" "deadlock" (func $deadlock (type 0)))
  (import "fault" "copy" (func $copy (type 1)))
  (import "fault" "outOfRange" (func $outOfRange (type 2)))
  (func $run (export "run") (type 3) (param $record i32) (param $arena i32) (param $block i32) (param $end i32) (result i32)
    (local $pipeline.committed i32) (local $pipeline.released i32) (local $fetchBatch i32) (local $computeBatch i32) (local $batchCount i32) (local i32 i32 i32) (local $blockIdx.x i32) (local $gridDim.x i32) (local $globalIn.length i32) (local $shared.length i32) (local $shared i32) (local $globalIn i32) (local i32 i32 i32 i32 i32 i32) (local $globalOut i32) (local i32 v128 v128 i32) (local $globalOut.length i32)
    (local.set $batchCount
      (i32.load offset=48
        (local.get $record)))
    (local.set $gridDim.x
      (i32.load
        (local.get $record)))
    (local.set $globalIn.length
      (i32.load offset=40
        (local.get $record)))
    (local.set $shared.length
      (i32.load offset=72
        (local.get $record)))
    (local.set $shared
      (i32.add
        (i32.load offset=64
          (local.get $record))
        (local.get $arena)))
    (local.set $globalIn
      (i32.load offset=32
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
          (local.set $pipeline.committed
            (i32.const 0))
          (local.set $pipeline.released
            (i32.const 0))
          (local.set $fetchBatch
            (i32.const 0))
          (local.set $computeBatch
            (i32.const 0))
          (block  ;; label = @4
            (loop  ;; label = @5
              (br_if 1 (;@4;)
                (i32.eqz
                  (i32.lt_s
                    (local.get $computeBatch)
                    (local.get $batchCount))))
              (block  ;; label = @6
                (block  ;; label = @7
                  (loop  ;; label = @8
                    (br_if 1 (;@7;)
                      (i32.eqz
                        (if (result i32)  ;; label = @9
                          (i32.lt_s
                            (local.get $fetchBatch)
                            (local.get $batchCount))
                          (then
                            (i32.lt_s
                              (local.get $fetchBatch)
                              (i32.add
                                (local.get $computeBatch)
                                (i32.const 4))))
                          (else
                            (i32.const 0)))))
                    (block  ;; label = @9
                      (if  ;; label = @10
                        (i32.ge_s
                          (i32.sub
                            (local.get $pipeline.committed)
                            (local.get $pipeline.released))
                          (i32.const 4))
                        (then
                          (call $deadlock
                            (i32.const 0)
                            (local.get $block)
                            (i32.rem_u
                              (local.get $pipeline.committed)
                              (i32.const 4)))
                          (return
                            (i32.const 1))))
                      (local.set 9
                        (i32.mul
                          (i32.rem_s
                            (local.get $fetchBatch)
                            (i32.const 4))
                          (i32.const 256)))
                      (local.set 10
                        (i32.add
                          (i32.mul
                            (local.get $blockIdx.x)
                            (i32.const 256))
                          (i32.mul
                            (i32.mul
                              (local.get $gridDim.x)
                              (i32.const 256))
                            (local.get $fetchBatch))))
                      (local.set 11
                        (i32.const 256))
                      (if  ;; label = @10
                        (i32.or
                          (i32.or
                            (i32.gt_u
                              (local.get 11)
                              (local.get $globalIn.length))
                            (i32.gt_u
                              (local.get 10)
                              (i32.sub
                                (local.get $globalIn.length)
                                (local.get 11))))
                          (i32.or
                            (i32.gt_u
                              (local.get 11)
                              (local.get $shared.length))
                            (i32.gt_u
                              (local.get 9)
                              (i32.sub
                                (local.get $shared.length)
                                (local.get 11)))))
                        (then
                          (call $copy
                            (i32.const 1)
                            (i32.const 0)
                            (local.get $block)
                            (i64.extend_i32_s
                              (local.get 9))
                            (i64.extend_i32_s
                              (local.get 10))
                            (i64.extend_i32_s
                              (local.get 11))
                            (i64.const 0))
                          (return
                            (i32.const 1))))
                      (call $copy.1
                        (i32.add
                          (i32.shl
                            (local.get 9)
                            (i32.const 2))
                          (local.get $shared))
                        (i32.add
                          (i32.shl
                            (local.get 10)
                            (i32.const 2))
                          (local.get $globalIn))
                        (i32.mul
                          (local.get 11)
                          (i32.const 4)))
                      (local.set $pipeline.committed
                        (i32.add
                          (local.get $pipeline.committed)
                          (i32.const 1))))
                    (local.set $fetchBatch
                      (i32.add
                        (local.get $fetchBatch)
                        (i32.const 1)))
                    (br 0 (;@8;))))
                (if  ;; label = @7
                  (i32.le_s
                    (i32.sub
                      (local.get $pipeline.committed)
                      (local.get $pipeline.released))
                    (i32.const 0))
                  (then
                    (call $deadlock
                      (i32.const 2)
                      (local.get $block)
                      (i32.rem_u
                        (local.get $pipeline.released)
                        (i32.const 4)))
                    (return
                      (i32.const 1))))
                (local.set 18
                  (i32.add
                    (i32.mul
                      (local.get $blockIdx.x)
                      (i32.const 256))
                    (i32.mul
                      (i32.mul
                        (local.get $gridDim.x)
                        (i32.const 256))
                      (local.get $computeBatch))))
                (i32.sub
                  (local.get $globalOut.length)
                  (i32.const 255))
                (local.set 9
                  (i32.const 0))
                (local.set 19
                  (select
                    (local.tee 23)
                    (local.get 9)
                    (i32.gt_s
                      (local.get 23)
                      (local.get 9))))
                (local.set 20
                  (i32.mul
                    (i32.rem_s
                      (local.get $computeBatch)
                      (i32.const 4))
                    (i32.const 256)))
                (i32.sub
                  (local.get $shared.length)
                  (i32.const 255))
                (local.set 9
                  (i32.const 0))
                (local.set 21
                  (select
                    (local.tee 23)
                    (local.get 9)
                    (i32.gt_s
                      (local.get 23)
                      (local.get 9))))
                (local.set 26
                  (i32x4.splat
                    (i32.const 3)))
                (local.set 27
                  (i32x4.splat
                    (i32.const 1)))
                (local.set 11
                  (i32.const 0))
                (local.set 10
                  (i32.const 256))
                (loop  ;; label = @7
                  (block  ;; label = @8
                    (block  ;; label = @9
                      (br_if 0 (;@9;)
                        (i32.ge_u
                          (i32.add
                            (local.get 18)
                            (local.get 11))
                          (local.get 19)))
                      (br_if 0 (;@9;)
                        (i32.ge_u
                          (i32.add
                            (local.get 20)
                            (local.get 11))
                          (local.get 21)))
                      (local.set 9
                        (i32.add
                          (local.get 11)
                          (i32.const 256)))
                      (local.set 23
                        (i32.add
                          (local.get 18)
                          (local.get 11)))
                      (local.set 22
                        (i32.add
                          (i32.shl
                            (local.get 23)
                            (i32.const 2))
                          (local.get $globalOut)))
                      (local.set 23
                        (i32.add
                          (local.get 20)
                          (local.get 11)))
                      (local.set 25
                        (i32.add
                          (i32.shl
                            (local.get 23)
                            (i32.const 2))
                          (local.get $shared)))
                      (loop  ;; label = @10
                        (v128.store align=4
                          (local.get 22)
                          (i32x4.add
                            (i32x4.mul
                              (v128.load align=4
                                (local.get 25))
                              (local.get 26))
                            (local.get 27)))
                        (v128.store offset=16 align=4
                          (local.get 22)
                          (i32x4.add
                            (i32x4.mul
                              (v128.load offset=16 align=4
                                (local.get 25))
                              (local.get 26))
                            (local.get 27)))
                        (v128.store offset=32 align=4
                          (local.get 22)
                          (i32x4.add
                            (i32x4.mul
                              (v128.load offset=32 align=4
                                (local.get 25))
                              (local.get 26))
                            (local.get 27)))
                        (v128.store offset=48 align=4
                          (local.get 22)
                          (i32x4.add
                            (i32x4.mul
                              (v128.load offset=48 align=4
                                (local.get 25))
                              (local.get 26))
                            (local.get 27)))
                        (local.set 22
                          (i32.add
                            (local.get 22)
                            (i32.const 64)))
                        (local.set 25
                          (i32.add
                            (local.get 25)
                            (i32.const 64)))
                        (br_if 0 (;@10;)
                          (i32.lt_u
                            (local.tee 11
                              (i32.add
                                (local.get 11)
                                (i32.const 16)))
                            (local.get 9))))
                      (br 1 (;@8;)))
                    (br_if 0 (;@8;)
                      (i32.ge_u
                        (local.get 11)
                        (local.get 10)))
                    (loop  ;; label = @9
                      (block  ;; label = @10
                        (local.set 9
                          (i32.add
                            (local.get 18)
                            (local.get 11)))
                        (local.set 28
                          (i32.add
                            (local.get 20)
                            (local.get 11)))
                        (if  ;; label = @11
                          (i32.ge_u
                            (local.get 28)
                            (local.get $shared.length))
                          (then
                            (call $outOfRange
                              (i32.const 3)
                              (local.get 11)
                              (local.get $block)
                              (i64.extend_i32_s
                                (local.get 28))
                              (i64.const 1)
                              (i64.extend_i32_u
                                (local.get $shared.length)))
                            (return
                              (i32.const 1))))
                        (local.set 23
                          (i32.add
                            (i32.mul
                              (i32.load
                                (i32.add
                                  (i32.shl
                                    (local.get 28)
                                    (i32.const 2))
                                  (local.get $shared)))
                              (i32.const 3))
                            (i32.const 1)))
                        (if  ;; label = @11
                          (i32.ge_u
                            (local.get 9)
                            (local.get $globalOut.length))
                          (then
                            (call $outOfRange
                              (i32.const 4)
                              (local.get 11)
                              (local.get $block)
                              (i64.extend_i32_s
                                (local.get 9))
                              (i64.const 1)
                              (i64.extend_i32_u
                                (local.get $globalOut.length)))
                            (return
                              (i32.const 1))))
                        (i32.store
                          (i32.add
                            (i32.shl
                              (local.get 9)
                              (i32.const 2))
                            (local.get $globalOut))
                          (local.get 23)))
                      (br_if 0 (;@9;)
                        (i32.lt_u
                          (local.tee 11
                            (i32.add
                              (local.get 11)
                              (i32.const 1)))
                          (local.get 10))))))
                (local.set $pipeline.released
                  (i32.add
                    (local.get $pipeline.released)
                    (i32.const 1))))
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
  (func $copy.1 (type 0) (param $destination i32) (param $source i32) (param $bytes i32)
    (local $last i32)
    (local.set $last
      (i32.add
        (local.get $source)
        (i32.and
          (local.get $bytes)
          (i32.const -64))))
    (block  ;; label = @1
      (br_if 0 (;@1;)
        (i32.eq
          (local.get $source)
          (local.get $last)))
      (loop  ;; label = @2
        (v128.store align=1
          (local.get $destination)
          (v128.load align=1
            (local.get $source)))
        (v128.store offset=16 align=1
          (local.get $destination)
          (v128.load offset=16 align=1
            (local.get $source)))
        (v128.store offset=32 align=1
          (local.get $destination)
          (v128.load offset=32 align=1
            (local.get $source)))
        (v128.store offset=48 align=1
          (local.get $destination)
          (v128.load offset=48 align=1
            (local.get $source)))
        (local.set $destination
          (i32.add
            (local.get $destination)
            (i32.const 64)))
        (local.set $source
          (i32.add
            (local.get $source)
            (i32.const 64)))
        (br_if 0 (;@2;)
          (i32.ne
            (local.get $source)
            (local.get $last)))))
    (local.set $bytes
      (i32.and
        (local.get $bytes)
        (i32.const 63)))
    (local.set $last
      (i32.add
        (local.get $source)
        (i32.and
          (local.get $bytes)
          (i32.const -16))))
    (block  ;; label = @1
      (br_if 0 (;@1;)
        (i32.eq
          (local.get $source)
          (local.get $last)))
      (loop  ;; label = @2
        (v128.store align=1
          (local.get $destination)
          (v128.load align=1
            (local.get $source)))
        (local.set $destination
          (i32.add
            (local.get $destination)
            (i32.const 16)))
        (local.set $source
          (i32.add
            (local.get $source)
            (i32.const 16)))
        (br_if 0 (;@2;)
          (i32.ne
            (local.get $source)
            (local.get $last)))))
    (local.set $bytes
      (i32.and
        (local.get $bytes)
        (i32.const 15)))
    (local.set $last
      (i32.add
        (local.get $source)
        (i32.and
          (local.get $bytes)
          (i32.const -1))))
    (block  ;; label = @1
      (br_if 0 (;@1;)
        (i32.eq
          (local.get $source)
          (local.get $last)))
      (loop  ;; label = @2
        (i32.store8
          (local.get $destination)
          (i32.load8_u
            (local.get $source)))
        (local.set $destination
          (i32.add
            (local.get $destination)
            (i32.const 1)))
        (local.set $source
          (i32.add
            (local.get $source)
            (i32.const 1)))
        (br_if 0 (;@2;)
          (i32.ne
            (local.get $source)
            (local.get $last)))))))
