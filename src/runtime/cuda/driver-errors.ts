// What to do about an error of the driver, by its number (CUresult in CUDA's driver API).
//
// The driver's own sentence says what happened. Each hint here says what helps on that machine: the
// library, the container, the other processes, the hardware or the kernel.

/** Results after which nothing in the context can be used: a kernel's fault, or a GPU that is gone. */
export const fatalResults: ReadonlySet<number> = new Set([
  3, 4, 46, 100, 101, 201, 214, 220, 226, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 999,
]);

const kernelFault =
  "start the process again, and run the kernel with open('cuda', { checked: true }), or `warpstage run --checked`: that tells the line, the thread and the index, and the GPU goes on";
const noGpu =
  'see with nvidia-smi which GPUs the driver has; CUDA_VISIBLE_DEVICES and the options of the container must not hide them; or open("cpu")';
const hardware =
  'the hardware reported a fault: look for Xid in `dmesg` and at `nvidia-smi -q -d ECC`, have the GPU reset, and start the process again';
const versions =
  'the driver is older than the compiler: install a newer driver, or name an older NVRTC with WARPSTAGE_NVRTC';
const mps =
  'start `nvidia-cuda-mps-control -d` again, or unset CUDA_MPS_PIPE_DIRECTORY so that this process needs no MPS';

const hints: ReadonlyMap<number, string> = new Map([
  [2, 'see with nvidia-smi which processes hold the memory, and wait for them, or open another GPU'],
  [34, 'the library is the one for linking: take the folder `stubs` out of LD_LIBRARY_PATH'],
  [
    46,
    'another process may have the GPU for itself: look at `nvidia-smi -q -d COMPUTE,PIDS`, and wait for it or open another GPU',
  ],
  [100, noGpu],
  [101, noGpu],
  [102, 'a virtual GPU needs its licence: look at `nvidia-smi -q` for the state of it'],
  [209, versions],
  [214, hardware],
  [218, versions],
  [220, hardware],
  [222, versions],
  [226, hardware],
  [304, 'the files /dev/nvidia* cannot be opened: start the container with its GPUs (docker run --gpus all)'],
  [700, kernelFault],
  [701, 'launch with smaller blocks, or let `launchBounds` limit the registers of a thread'],
  [702, 'let each launch do less, or take the display off this GPU; the GPU needs a new process'],
  [710, kernelFault],
  [714, kernelFault],
  [715, kernelFault],
  [716, kernelFault],
  [717, kernelFault],
  [718, kernelFault],
  [719, kernelFault],
  [802, 'wait until the machine has started; where GPUs are joined by NVSwitch, start nvidia-fabricmanager'],
  [803, 'the driver was updated while its module runs: load the module again, or start the machine again'],
  [804, 'take the folder of cuda-compat out of LD_LIBRARY_PATH, or install a newer driver'],
  [805, mps],
  [806, mps],
  [807, mps],
  [808, mps],
  [809, mps],
]);

/** What to do about a result of the driver that is an error. */
export function hintOf(result: number): string {
  return hints.get(result) ?? 'look at the GPU with nvidia-smi, and start the process again';
}
