// A barrier of all blocks of a cooperative launch.
//
// The driver gives each cooperative launch a workspace of its own, whose address is in two of the
// environment registers; its second word is the grid's barrier. Each block adds 1 to it, and the
// first one what makes the sum of all flip the highest bit: who waits, waits for that flip.

/** `ws_sync_grid()`: called by all threads of all blocks. */
export const gridPrelude = `WS_DEVICE unsigned* ws_grid_barrier() {
  unsigned high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  return (unsigned*)((unsigned long long)high << 32 | low) + 1;
}
WS_DEVICE void ws_sync_grid() {
  __syncthreads();
  if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
    unsigned* barrier = ws_grid_barrier();
    unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
    unsigned own = (blockIdx.x | blockIdx.y | blockIdx.z) == 0 ? 0x80000000u - others : 1;
    unsigned before, now;
    // Everything that the block wrote comes before the addition, and nothing that it reads before the flip.
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(barrier), "r"(own) : "memory");
    do {
      asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(barrier) : "memory");
    } while (((before ^ now) & 0x80000000u) == 0);
  }
  __syncthreads();
}
`;
