// A barrier of all blocks of a cooperative launch.
//
// The driver gives each cooperative launch a workspace of its own, whose address is in two of the
// environment registers; its second word is the grid's barrier. Each block adds 1 to it, and the
// first one what makes the sum of all flip the highest bit: who waits, waits for that flip.

/** `ws_sync_grid()`: called by all threads of all blocks. In a checked kernel the barrier is that of its channel. */
export const gridPrelude = `#ifdef WS_TURN
WS_DEVICE unsigned* ws_grid_barrier() { return &ws_host_of_block->grid; }
#else
WS_DEVICE unsigned* ws_grid_barrier() {
  unsigned high, low;
  asm("mov.u32 %0, %%envreg1;" : "=r"(high));
  asm("mov.u32 %0, %%envreg2;" : "=r"(low));
  return (unsigned*)((unsigned long long)high << 32 | low) + 1;
}
#endif
WS_DEVICE unsigned ws_grid_word(unsigned* barrier) {
  unsigned word;
  asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(word) : "l"(barrier) : "memory");
  return word;
}
// Parts of a warp may come to it on different ways.
WS_DEVICE void ws_sync_grid(WS_WAITS_ALONE) {
  ws_sync_apart();
  if ((threadIdx.x | threadIdx.y | threadIdx.z) == 0) {
    unsigned* barrier = ws_grid_barrier();
    unsigned others = gridDim.x * gridDim.y * gridDim.z - 1;
    unsigned own = (blockIdx.x | blockIdx.y | blockIdx.z) == 0 ? 0x80000000u - others : 1;
    unsigned before;
    // Everything that the block wrote comes before the addition, and nothing that it reads before the flip.
    asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(before) : "l"(barrier), "r"(own) : "memory");
    WS_SPIN_WHILE(((before ^ ws_grid_word(barrier)) & 0x80000000u) == 0);
  }
  ws_sync_apart();
}
`;
