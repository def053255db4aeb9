// What bench/programs/saxpy.mjs does, by hand: the driver and NVRTC through koffi, one call after the other.
// Prints when each step was done, in milliseconds since the process began.

import { existsSync } from 'node:fs';

const marks = { node: performance.now() };
const mark = (name) => {
  marks[name] = performance.now();
};

const { default: koffi } = await import('koffi');
const ok = (result) => {
  if (result !== 0) throw new Error(`the driver or NVRTC gave ${result}`);
};
const driver = koffi.load('libcuda.so.1');
const out = '_Out_ uint64_t *';
const bind = (library, name, ...parameters) => library.func(name, 'int', parameters);
const cuInit = bind(driver, 'cuInit', 'uint');
const cuDevicePrimaryCtxRetain = bind(driver, 'cuDevicePrimaryCtxRetain', out, 'int');
const cuCtxSetCurrent = bind(driver, 'cuCtxSetCurrent', 'uint64_t');
const cuMemAlloc = bind(driver, 'cuMemAlloc_v2', out, 'size_t');
const cuMemcpyHtoD = bind(driver, 'cuMemcpyHtoD_v2', 'uint64_t', 'void *', 'size_t');
const cuMemcpyDtoH = bind(driver, 'cuMemcpyDtoH_v2', 'void *', 'uint64_t', 'size_t');
const cuModuleLoadData = bind(driver, 'cuModuleLoadData', out, 'void *');
const cuModuleGetFunction = bind(driver, 'cuModuleGetFunction', out, 'uint64_t', 'const char *');
const words = Array.from({ length: 7 }, () => 'uint');
const launchParameters = ['uint64_t', ...words, 'uint64_t', 'void **', 'void *'];
const cuLaunchKernel = bind(driver, 'cuLaunchKernel', ...launchParameters);
mark('koffi');
const count = 1 << 20;
const x = new Float32Array(count);
for (let i = 0; i < count; ++i) x[i] = i % 1000;
const y = new Float32Array(count).fill(1);
mark('data');
ok(cuInit(0));
mark('cuInit');
const context = [0];
ok(cuDevicePrimaryCtxRetain(context, 0));
ok(cuCtxSetCurrent(context[0]));
mark('context');
const [dx, dy] = [[0], [0]];
ok(cuMemAlloc(dx, 4 * count));
ok(cuMemAlloc(dy, 4 * count));
mark('alloc');
ok(cuMemcpyHtoD(dx[0], x, 4 * count));
ok(cuMemcpyHtoD(dy[0], y, 4 * count));
mark('copy in');
const paths = ['/usr/local/cuda/lib64/libnvrtc.so.13', '/usr/local/cuda/lib64/libnvrtc.so'];
const nvrtc = koffi.load(paths.find(existsSync) ?? 'libnvrtc.so');
const nvrtcCreateProgram = bind(
  nvrtc,
  'nvrtcCreateProgram',
  out,
  'const char *',
  'const char *',
  'int',
  'void *',
  'void *',
);
const nvrtcCompileProgram = bind(nvrtc, 'nvrtcCompileProgram', 'uint64_t', 'int', 'const char **');
const nvrtcGetCUBINSize = bind(nvrtc, 'nvrtcGetCUBINSize', 'uint64_t', '_Out_ size_t *');
const nvrtcGetCUBIN = bind(nvrtc, 'nvrtcGetCUBIN', 'uint64_t', 'void *');
mark('NVRTC');
const text = `extern "C" __global__ void saxpy(float* y, const float* x, float a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}`;
const [program, size, module, entry] = [[0], [0], [0], [0]];
ok(nvrtcCreateProgram(program, text, 'saxpy.cu', 0, null, null));
ok(nvrtcCompileProgram(program[0], 2, ['--gpu-architecture=sm_90a', '--fmad=false']));
ok(nvrtcGetCUBINSize(program[0], size));
const image = new Uint8Array(size[0]);
ok(nvrtcGetCUBIN(program[0], image));
mark('compile');
ok(cuModuleLoadData(module, image));
ok(cuModuleGetFunction(entry, module[0], 'saxpy'));
mark('load');
const parameters = Buffer.alloc(24);
parameters.writeBigUInt64LE(BigInt(dy[0]), 0);
parameters.writeBigUInt64LE(BigInt(dx[0]), 8);
parameters.writeFloatLE(2, 16);
parameters.writeInt32LE(count, 20);
const pointers = [0, 8, 16, 20].map((offset) => parameters.subarray(offset));
ok(cuLaunchKernel(entry[0], count / 256, 1, 1, 256, 1, 1, 0, 0, pointers, null));
mark('launch');
ok(cuMemcpyDtoH(y, dy[0], 4 * count));
mark('copy out');
for (let i = 0; i < count; ++i) if (y[i] !== 2 * (i % 1000) + 1) throw new Error('the results differ');
mark('check');
console.log(JSON.stringify(marks));
