#include "programs.h"

#include <vector>

#include "sources.h"
#include "status.h"

namespace opencl {
namespace {

std::string Assemble(const Source& source) {
  std::string text = "#line 1 \"prologue\"\n" + source.prologue;
  if (source.file.empty()) return text;
  for (const std::string_view name : {std::string_view("common.cl"), source.file})
    text.append("#line 1 \"").append(name).append("\"\n").append(SourceOf(name)).append("\n");
  return text;
}

std::vector<unsigned char> BinaryOf(cl_program program) {
  size_t size = 0;
  if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) !=
          CL_SUCCESS ||
      size == 0)
    return {};
  std::vector<unsigned char> binary(size);
  unsigned char* data = binary.data();
  if (clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(data), &data, nullptr) != CL_SUCCESS)
    return {};
  return binary;
}

std::string LogOf(cl_program program, cl_device_id device) {
  size_t size = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
  std::string log(size, '\0');
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
  while (!log.empty() && log.back() == '\0') log.pop_back();
  return log;
}

}  // namespace

struct Programs::Entry {
  std::mutex mutex;  // held while the kernel is made
  std::unique_ptr<Kernel> kernel;
};

Programs::Programs(cl_context context, cl_device_id device, bool for_gpu)
    : context_(context), device_(device), for_gpu_(for_gpu), device_key_(DeviceKey(device)) {}

Programs::~Programs() = default;

// Division and square root as IEEE has them, where the device can say so. Denormals count as zero,
// as in TensorFlow.
std::string Programs::OptionsFor(const Source& source) const {
  std::string options = "-cl-std=CL1.2 -cl-denorms-are-zero";
  const auto floats = FactOf<cl_device_fp_config>(device_, CL_DEVICE_SINGLE_FP_CONFIG);
  if ((floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0)
    options += " -cl-fp32-correctly-rounded-divide-sqrt";
  if (for_gpu_) options += " -DIS_GPU";
  if (*source.options != '\0') options += std::string(" ") + source.options;
  return options;
}

Program Programs::BuildText(const Source& source, const std::string& text) const {
  const char* data = text.data();
  const size_t size = text.size();
  cl_int code = CL_SUCCESS;
  Program program(clCreateProgramWithSource(context_, 1, &data, &size, &code));
  Check(code, "clCreateProgramWithSource");
  const std::string options = OptionsFor(source);
  code = clBuildProgram(program.get(), 1, &device_, options.c_str(), nullptr, nullptr);
  if (code == CL_SUCCESS) return program;
  throw Error(TF_INTERNAL,
              "OpenCL: clBuildProgram answers " + CodeName(code) + " for kernel " + source.entry +
                  " of " + std::string(source.file.empty() ? "a generated source" : source.file) +
                  ":\n" + LogOf(program.get(), device_));
}

// From the cache on disk if it has the program, else from the text. What the driver refuses of the
// cache is compiled again.
Program Programs::Build(const Source& source, const std::string& text) const {
  const std::string options = OptionsFor(source);
  const std::string key = device_key_ + options + "\n" + text;
  const std::vector<unsigned char> stored = cache_.Read(key);
  if (!stored.empty()) {
    const unsigned char* data = stored.data();
    const size_t size = stored.size();
    cl_int status = CL_SUCCESS, code = CL_SUCCESS;
    Program program(clCreateProgramWithBinary(context_, 1, &device_, &size, &data, &status, &code));
    if (code == CL_SUCCESS && status == CL_SUCCESS &&
        // The options count when the program runs, too: PoCL looks there how to take denormals.
        clBuildProgram(program.get(), 1, &device_, options.c_str(), nullptr, nullptr) == CL_SUCCESS)
      return program;
  }
  Program program = BuildText(source, text);
  cache_.Write(key, BinaryOf(program.get()));
  return program;
}

std::unique_ptr<Kernel> Programs::Make(const Source& source) const {
  auto kernel = std::make_unique<Kernel>();
  kernel->name = source.entry;
  kernel->program = Build(source, Assemble(source));
  cl_int code = CL_SUCCESS;
  kernel->handle = KernelHandle(clCreateKernel(kernel->program.get(), source.entry, &code));
  Check(code, "clCreateKernel");
  Check(
      clGetKernelWorkGroupInfo(kernel->handle.get(), device_, CL_KERNEL_WORK_GROUP_SIZE,
                               sizeof(kernel->most_work_items), &kernel->most_work_items, nullptr),
      "clGetKernelWorkGroupInfo");
  return kernel;
}

Kernel* Programs::Find(const KernelKey& key) {
  const std::lock_guard lock(mutex_);
  const auto found = by_key_.find(key.bytes());
  return found == by_key_.end() ? nullptr : found->second;
}

Kernel& Programs::Keep(const KernelKey& key, Kernel& kernel) {
  const std::lock_guard lock(mutex_);
  by_key_.emplace(key.bytes(), &kernel);
  return kernel;
}

Kernel& Programs::Get(const Source& source) {
  std::string key;
  key.reserve(source.prologue.size() + 64);
  key.append(source.file).append("\n").append(source.entry).append("\n").append(source.options);
  key.append("\n").append(source.prologue);
  Entry* entry = nullptr;
  {
    std::lock_guard lock(mutex_);
    std::unique_ptr<Entry>& slot = entries_[std::move(key)];
    if (slot == nullptr) slot = std::make_unique<Entry>();
    entry = slot.get();
  }
  std::lock_guard lock(entry->mutex);
  if (entry->kernel == nullptr) entry->kernel = Make(source);
  return *entry->kernel;
}

}  // namespace opencl
