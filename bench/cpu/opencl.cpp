// OpenCL kernels of a processor (POCL), called from the bench: one device with so many compute units, one kernel
// over memory that it uses where it is. Built by bench/opencl.ts where the headers are there.

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <cstdint>
#include <cstdio>

#define CALL extern "C" __attribute__((visibility("default")))

struct Work {
  cl_context context;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernel;
  cl_mem input, output;
  size_t global[2], local[2];
};

/// Null where anything is missing.
CALL Work* prepare(const char* source, const char* name, void* in, int64_t inBytes, void* out, int64_t outBytes,
                   int argument, const int64_t* shape, int threads) {
  cl_platform_id platform;
  cl_device_id device;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS) return nullptr;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr) != CL_SUCCESS) return nullptr;
  cl_uint units = 0;
  clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, nullptr);
  if (units < (cl_uint)threads) return nullptr;
  if (units > (cl_uint)threads) {
    const cl_device_partition_property parts[] = {CL_DEVICE_PARTITION_BY_COUNTS, threads,
                                                  CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
    if (clCreateSubDevices(device, parts, 1, &device, nullptr) != CL_SUCCESS) return nullptr;
  }
  auto* work = new Work{};
  work->context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, nullptr);
  work->queue = clCreateCommandQueue(work->context, device, 0, nullptr);
  work->program = clCreateProgramWithSource(work->context, 1, &source, nullptr, nullptr);
  if (clBuildProgram(work->program, 1, &device, "", nullptr, nullptr) != CL_SUCCESS) return nullptr;
  work->kernel = clCreateKernel(work->program, name, nullptr);
  work->input = clCreateBuffer(work->context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, inBytes, in, nullptr);
  work->output = clCreateBuffer(work->context, CL_MEM_WRITE_ONLY | CL_MEM_USE_HOST_PTR, outBytes, out, nullptr);
  clSetKernelArg(work->kernel, 0, sizeof work->input, &work->input);
  clSetKernelArg(work->kernel, 1, sizeof work->output, &work->output);
  clSetKernelArg(work->kernel, 2, sizeof argument, &argument);
  for (int axis = 0; axis < 2; ++axis) {
    work->global[axis] = shape[axis];
    work->local[axis] = shape[2 + axis];
  }
  return work;
}

/// 0 where all went well.
CALL int carry_out(Work* work, int times) {
  int failed = 0;
  for (int time = 0; time < times; ++time)
    failed |= clEnqueueNDRangeKernel(work->queue, work->kernel, 2, nullptr, work->global, work->local, 0, nullptr, nullptr);
  return failed | clFinish(work->queue);
}

CALL void dispose(Work* work) {
  clReleaseMemObject(work->input);
  clReleaseMemObject(work->output);
  clReleaseKernel(work->kernel);
  clReleaseProgram(work->program);
  clReleaseCommandQueue(work->queue);
  clReleaseContext(work->context);
  delete work;
}
