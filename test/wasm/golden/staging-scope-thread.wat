(module
  (type (;0;) (func (param i32 i32 i32 i64 i64 i64)))
  (type (;1;) (func (param i32 i32 i32 i64 i64 i32)))
  (type (;2;) (func (param i32 i32 i32 i32) (result i32)))
  (import "env" "memory" (memory (;0;) 0 65536 shared))
  (import "fault" "copy" (func $copy (type 0)))
  (import "fault" "outOfRange" (func $outOfRange (type 1)))
  (func $run (export "run") (type 2) (param $record i32) (param $arena i32) (param $block i32) (param $end i32) (result i32)
    (local $fetchBatch i32) (local $computeBatch i32) (local $batchCount i32) (local i32 i32 i32 i32 i32 i32 i32 i32 i32) (local $globalIn.length i32) (local $shared i32) (local $globalIn i32) (local $blockIdx.x i32) (local $gridDim.x i32) (local i32 i32) (local $globalOut.length i32) (local $globalOut i32)
    (local.set $batchCount
      (i32.load offset=48
        (local.get $record)))
    (local.set $globalIn.length
      (i32.load offset=36
        (local.get $record)))
    (local.set $shared
      (i32.add
        (i32.load offset=64
          (local.get $record))
        (local.get $arena)))
    (local.set $globalIn
      (i32.load offset=32
        (local.get $record)))
    (local.set $gridDim.x
      (i32.load
        (local.get $record)))
    (local.set $globalOut.length
      (i32.load offset=20
        (local.get $record)))
    (local.set $globalOut
      (i32.load offset=16
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
                (local.set 7
                  (local.get $fetchBatch))
                (local.set 10
                  (i32.add
                    (local.get $computeBatch)
                    (i32.const 2)))
                (local.set 14
                  (i32.mul
                    (local.get $blockIdx.x)
                    (i32.const 64)))
                (local.set 15
                  (i32.mul
                    (local.get $gridDim.x)
                    (i32.const 64)))
                (local.set 8
                  (i32.const 0))
                (local.set 9
                  (i32.const 64))
                (loop  ;; label = @7
                  (block  ;; label = @8
                    (loop  ;; label = @9
                      (block  ;; label = @10
                        (local.set $fetchBatch
                          (local.get 7))
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
                                      (local.get 10)))
                                  (else
                                    (i32.const 0)))))
                            (block  ;; label = @13
                              (local.set 11
                                (i32.add
                                  (i32.mul
                                    (i32.rem_s
                                      (local.get $fetchBatch)
                                      (i32.const 2))
                                    (i32.const 64))
                                  (local.get 8)))
                              (local.set 12
                                (i32.add
                                  (i32.add
                                    (local.get 14)
                                    (i32.mul
                                      (local.get 15)
                                      (local.get $fetchBatch)))
                                  (local.get 8)))
                              (local.set 13
                                (i32.const 1))
                              (if  ;; label = @14
                                (i32.or
                                  (i32.or
                                    (i32.gt_u
                                      (local.get 13)
                                      (local.get $globalIn.length))
                                    (i32.gt_u
                                      (local.get 12)
                                      (i32.sub
                                        (local.get $globalIn.length)
                                        (local.get 13))))
                                  (i32.or
                                    (i32.gt_u
                                      (local.get 13)
                                      (i32.const 128))
                                    (i32.gt_u
                                      (local.get 11)
                                      (i32.sub
                                        (i32.const 128)
                                        (local.get 13)))))
                                (then
                                  (call $copy
                                    (i32.const 0)
                                    (local.get 8)
                                    (local.get $block)
                                    (i64.extend_i32_s
                                      (local.get 11))
                                    (i64.extend_i32_s
                                      (local.get 12))
                                    (i64.extend_i32_s
                                      (local.get 13)))
                                  (return
                                    (i32.const 1))))
                              (i32.store
                                (i32.add
                                  (i32.shl
                                    (local.get 11)
                                    (i32.const 2))
                                  (local.get $shared))
                                (i32.load
                                  (i32.add
                                    (i32.shl
                                      (local.get 12)
                                      (i32.const 2))
                                    (local.get $globalIn)))))
                            (local.set $fetchBatch
                              (i32.add
                                (local.get $fetchBatch)
                                (i32.const 1)))
                            (br 0 (;@12;)))))
                      (br_if 0 (;@9;)
                        (i32.lt_u
                          (local.tee 8
                            (i32.add
                              (local.get 8)
                              (i32.const 1)))
                          (local.get 9))))))
                (local.set 21
                  (i32.add
                    (i32.mul
                      (local.get $blockIdx.x)
                      (i32.const 64))
                    (i32.mul
                      (i32.mul
                        (local.get $gridDim.x)
                        (i32.const 64))
                      (local.get $computeBatch))))
                (local.set 22
                  (i32.mul
                    (i32.rem_s
                      (local.get $computeBatch)
                      (i32.const 2))
                    (i32.const 64)))
                (local.set 9
                  (i32.const 0))
                (local.set 8
                  (i32.const 64))
                (loop  ;; label = @7
                  (block  ;; label = @8
                    (loop  ;; label = @9
                      (block  ;; label = @10
                        (local.set 13
                          (i32.add
                            (local.get 21)
                            (local.get 9)))
                        (local.set 11
                          (i32.add
                            (local.get 22)
                            (i32.rem_s
                              (i32.add
                                (local.get 9)
                                (i32.const 1))
                              (i32.const 64))))
                        (if  ;; label = @11
                          (i32.ge_u
                            (local.get 11)
                            (i32.const 128))
                          (then
                            (call $outOfRange
                              (i32.const 1)
                              (local.get 9)
                              (local.get $block)
                              (i64.extend_i32_s
                                (local.get 11))
                              (i64.const 1)
                              (i32.const 128))
                            (return
                              (i32.const 1))))
                        (local.set 12
                          (i32.add
                            (i32.mul
                              (i32.load
                                (i32.add
                                  (i32.shl
                                    (local.get 11)
                                    (i32.const 2))
                                  (local.get $shared)))
                              (i32.const 3))
                            (i32.const 1)))
                        (if  ;; label = @11
                          (i32.ge_u
                            (local.get 13)
                            (local.get $globalOut.length))
                          (then
                            (call $outOfRange
                              (i32.const 2)
                              (local.get 9)
                              (local.get $block)
                              (i64.extend_i32_s
                                (local.get 13))
                              (i64.const 1)
                              (local.get $globalOut.length))
                            (return
                              (i32.const 1))))
                        (i32.store
                          (i32.add
                            (i32.shl
                              (local.get 13)
                              (i32.const 2))
                            (local.get $globalOut))
                          (local.get 12)))
                      (br_if 0 (;@9;)
                        (i32.lt_u
                          (local.tee 9
                            (i32.add
                              (local.get 9)
                              (i32.const 1)))
                          (local.get 8)))))))
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
    (i32.const 0)))
