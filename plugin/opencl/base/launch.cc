#include "launch.h"

#include <algorithm>
#include <vector>

#include "../device/trace.h"

namespace opencl {
namespace {

template <typename Number>
std::vector<Number> NumbersOf(const Loop& loop) {
  std::vector<Number> numbers(loop.dims.begin(), loop.dims.end());
  for (const Dims& strides : loop.strides)
    numbers.insert(numbers.end(), strides.begin(), strides.end());
  return numbers;
}

}  // namespace

Launch::Launch(Call& call, Kernel& kernel) : call_(call), kernel_(kernel), lock_(kernel_.mutex) {}

Launch& Launch::Raw(const void* data, size_t size) {
  Check(clSetKernelArg(kernel_.handle.get(), next_++, size, data), "clSetKernelArg");
  return *this;
}

Launch& Launch::Memory(const void* address, size_t bytes, size_t element_bytes) {
  // A kernel of no elements reads nothing, and has no address to find.
  const Place place = bytes == 0 ? Place{call_.device().errors().words(), 0}
                                 : call_.device().memory().Find(address, bytes);
  Value(place.buffer);
  return Value(static_cast<cl_ulong>(place.offset / element_bytes));
}

Launch& Launch::Errors(cl_int number) {
  may_report_ = true;
  Value(call_.device().errors().words());
  return Value(number);
}

Launch& Launch::Length(int64_t count, bool wide) {
  return wide ? Value(static_cast<cl_ulong>(count)) : Value(static_cast<cl_uint>(count));
}

Launch& Launch::Positions(const Loop& loop, bool wide) {
  if (wide) {
    const std::vector<int64_t> numbers = NumbersOf<int64_t>(loop);
    return Bytes(numbers.data(), numbers.size() * sizeof(int64_t));
  }
  const std::vector<int32_t> numbers = NumbersOf<int32_t>(loop);
  return Bytes(numbers.data(), numbers.size() * sizeof(int32_t));
}

void Launch::RunRows(int64_t columns, int64_t rows) {
  const size_t group = columns >= 256 ? 256 : columns >= 64 ? 64 : 16;
  Run({static_cast<size_t>(columns), static_cast<size_t>(rows), 1}, {group, 1, 1});
}

void Launch::Run(std::array<size_t, 3> global, std::array<size_t, 3> group) {
  cl_uint dimensions = 1;
  for (cl_uint d = 0; d < 3; ++d) {
    group[d] = std::min(group[d], kernel_.most_work_items);
    global[d] = (global[d] + group[d] - 1) / group[d] * group[d];
    if (global[d] == 0) return;
    if (global[d] > 1) dimensions = d + 1;
  }
  Stream& stream = call_.stream();
  const Traced traced(stream, kernel_.name.c_str());
  const cl_int code =
      clEnqueueNDRangeKernel(stream.queue(), kernel_.handle.get(), dimensions, nullptr,
                             global.data(), group.data(), 0, nullptr, traced.event());
  if (code != CL_SUCCESS) Check(code, ("clEnqueueNDRangeKernel (" + kernel_.name + ")").c_str());
  stream.Touch();
  if (may_report_) call_.device().errors().Expect();
}

}  // namespace opencl
