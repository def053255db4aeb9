// The types that arguments of intrinsics are declared with: each says what the compiler takes there.

/** A number, a bigint or a truth, which counts as 0 or 1. */
export type Scalar = number | bigint | boolean;

/** The same, or `a / b` of two integers, of which a cast to an integer drops the fraction. */
export type Castable = Scalar;

/** A number, or `a / b` of two integers, whose fraction is kept, or rounded as the name says. */
export type Divided = number;

/** An integer, taken as a position, a count or a rank. */
export type Index = number;

/** An integer that is known when the kernel is compiled. */
export type Constant = number;

/** The size of a tile: a power of two that is known when the kernel is compiled. Editors refuse other numbers that are written out. */
export type TileSize<N extends number> = number extends N
  ? N
  : N extends 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256 | 512 | 1024
    ? N
    : 1 | 2 | 4 | 8 | 16 | 32 | 64 | 128 | 256 | 512 | 1024;

/** The lanes of a warp: an integer whose bit i stands for lane i. */
export type Lanes = number;

/** A number of nanoseconds, with or without a fraction. */
export type Nanoseconds = number;

/** What a thread gets of another's value: a truth counts as 0 or 1. */
export type Exchanged<T extends number | bigint | boolean> = T extends bigint ? bigint : number;

declare const brand: unique symbol;

/** A generator of random numbers, made by `cuda.curandInit`. CUDA: `curandStatePhilox4_32_10_t`. */
export interface RandomState {
  readonly [brand]: 'randomState';
}
