#include "host.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

namespace tenon::pjrt_test {
namespace {

const char* Library() { return PJRT_REFERENCE_LIBRARY; }

void Check(const std::string& error) {
  if (!error.empty()) throw std::runtime_error(error);
}

float HalfToFloat(uint16_t bits) {
  const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double size = exponent == 0    ? mantissa * 0x1p-24
                      : exponent == 31 ? (mantissa ? NAN : INFINITY)
                                       : (1024 + mantissa) * std::ldexp(1.0, exponent - 25);
  return static_cast<float>(bits & 0x8000 ? -size : size);
}

template <typename T>
void Append(const std::string& bytes, std::vector<double>* out) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    out->push_back(static_cast<double>(value));
  }
}

}  // namespace

std::vector<double> Numbers(const Tensor& tensor) {
  std::vector<double> out;
  switch (tensor.type) {
    case abi::kPred:
    case abi::kU8:
      Append<uint8_t>(tensor.bytes, &out);
      break;
    case abi::kS8:
      Append<int8_t>(tensor.bytes, &out);
      break;
    case abi::kS16:
      Append<int16_t>(tensor.bytes, &out);
      break;
    case abi::kU16:
      Append<uint16_t>(tensor.bytes, &out);
      break;
    case abi::kS32:
      Append<int32_t>(tensor.bytes, &out);
      break;
    case abi::kU32:
      Append<uint32_t>(tensor.bytes, &out);
      break;
    case abi::kS64:
      Append<int64_t>(tensor.bytes, &out);
      break;
    case abi::kU64:
      Append<uint64_t>(tensor.bytes, &out);
      break;
    case abi::kF32:
    case abi::kC64:
      Append<float>(tensor.bytes, &out);
      break;
    case abi::kF64:
    case abi::kC128:
      Append<double>(tensor.bytes, &out);
      break;
    case abi::kF16:
    case abi::kBF16:
      for (size_t at = 0; at + 2 <= tensor.bytes.size(); at += 2) {
        uint16_t bits;
        std::memcpy(&bits, tensor.bytes.data() + at, 2);
        const uint32_t wide = static_cast<uint32_t>(bits) << 16;
        float value;
        std::memcpy(&value, &wide, 4);
        out.push_back(tensor.type == abi::kF16 ? HalfToFloat(bits) : value);
      }
      break;
    default:
      throw std::runtime_error("elements of type " + std::to_string(tensor.type));
  }
  return out;
}

std::string TextOf(const abi::Api& api, abi::Error* error) {
  auto code = Made<abi::ErrorGetCodeArgs>();
  code.error = error;
  auto message = Made<abi::ErrorMessageArgs>();
  message.error = error;
  api.error_message(&message);
  if (abi::Error* other = api.error_get_code(&code))
    return "an error without a code, " + TextOf(api, other);
  const std::string text =
      std::to_string(code.code) + ": " + std::string(message.message, message.message_size);
  auto destroy = Made<abi::ErrorDestroyArgs>();
  destroy.error = error;
  api.error_destroy(&destroy);
  return text;
}

Plugin::Plugin(const std::string& options) {
  // A copy under another name has static data of its own.
  static std::atomic<int> number{0};
  const auto folder = std::filesystem::temp_directory_path();
  const auto copy = folder / ("pjrt_reference_" + std::to_string(getpid()) + "_" +
                              std::to_string(number++) + ".so");
  std::filesystem::copy_file(Library(), copy, std::filesystem::copy_options::overwrite_existing);
  void* library = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  std::filesystem::remove(copy);
  if (!library) throw std::runtime_error(dlerror());
  auto* get = reinterpret_cast<abi::GetApi*>(dlsym(library, "GetPjrtApi"));
  if (!get) throw std::runtime_error("GetPjrtApi is missing");
  setenv("TENON_PJRT_REFERENCE", options.c_str(), 1);
  api_ = get();
  unsetenv("TENON_PJRT_REFERENCE");
}

const abi::Api& SharedApi() {
  static const auto* const kPlugin = new Plugin;
  return kPlugin->api();
}

Client::Client(const abi::Api& api, const std::vector<Option>& options) : api_(api) {
  std::vector<abi::NamedValue> values;
  for (const Option& option : options) {
    auto value = Made<abi::NamedValue>();
    value.name = option.name.data();
    value.name_size = option.name.size();
    value.type = static_cast<abi::NamedValue::Type>(option.type);
    value.value_size = 1;
    if (option.type == abi::NamedValue::kString) {
      value.text = option.text.data();
      value.value_size = option.text.size();
    } else if (option.type == abi::NamedValue::kBool) {
      value.truth = option.integer != 0;
    } else {
      value.integer = option.integer;
    }
    values.push_back(value);
  }
  auto args = Made<abi::ClientCreateArgs>();
  args.options = values.data();
  args.num_options = values.size();
  Check(Call(api, api.client_create, &args));
  client_ = args.client;
}

Client::~Client() {
  auto args = Made<abi::ClientDestroyArgs>();
  args.client = client_;
  Call(api_, api_.client_destroy, &args);
}

std::vector<abi::Device*> Client::devices() const {
  auto args = Made<abi::ClientDevicesArgs>();
  args.client = client_;
  Check(Call(api_, api_.client_addressable_devices, &args));
  return {args.devices, args.devices + args.num_devices};
}

std::string Client::Compile(const std::string& text, abi::LoadedExecutable** executable,
                            const std::string& options) const {
  auto program = Made<abi::Program>();
  program.code = text.data();
  program.code_size = text.size();
  program.format = "mlir";
  program.format_size = 4;
  auto args = Made<abi::ClientCompileArgs>();
  args.client = client_;
  args.program = &program;
  args.options = options.data();
  args.options_size = options.size();
  const std::string error = Call(api_, api_.client_compile, &args);
  *executable = args.executable;
  return error;
}

abi::LoadedExecutable* Client::Compiled(const std::string& text) const {
  abi::LoadedExecutable* executable = nullptr;
  Check(Compile(text, &executable));
  return executable;
}

abi::Buffer* Client::Upload(const Tensor& tensor, size_t device) const {
  auto args = Made<abi::ClientBufferFromHostBufferArgs>();
  args.client = client_;
  args.data = tensor.bytes.data();
  args.type = static_cast<abi::ElementType>(tensor.type);
  args.dims = tensor.dims.data();
  args.rank = tensor.dims.size();
  args.device = devices().at(device);
  Check(Call(api_, api_.client_buffer_from_host_buffer, &args));
  const std::string error = Await(args.done_with_host_data);
  if (!error.empty()) Destroy(args.buffer);
  Check(error);
  return args.buffer;
}

size_t Client::NumOutputs(abi::LoadedExecutable* executable) const {
  auto get = Made<abi::LoadedGetExecutableArgs>();
  get.loaded = executable;
  Check(Call(api_, api_.loaded_executable_get_executable, &get));
  auto count = Made<abi::ExecutableCountArgs>();
  count.executable = get.executable;
  Check(Call(api_, api_.executable_num_outputs, &count));
  auto destroy = Made<abi::ExecutableDestroyArgs>();
  destroy.executable = get.executable;
  Check(Call(api_, api_.executable_destroy, &destroy));
  return count.count;
}

std::string Client::Execute(abi::LoadedExecutable* executable,
                            const std::vector<abi::Buffer*>& arguments,
                            std::vector<abi::Buffer*>* results, abi::Event** complete) const {
  results->assign(NumOutputs(executable), nullptr);
  auto options = Made<abi::ExecuteOptions>();
  auto args = Made<abi::ExecuteArgs>();
  abi::Buffer* const* lists[] = {arguments.data()};
  abi::Buffer** outputs[] = {results->data()};
  args.executable = executable;
  args.options = &options;
  args.arguments = lists;
  args.num_devices = 1;
  args.num_arguments = arguments.size();
  args.outputs = outputs;
  args.complete_events = complete;
  return Call(api_, api_.loaded_executable_execute, &args);
}

std::string Client::Download(abi::Buffer* buffer, Tensor* tensor) const {
  auto dims = Made<abi::BufferDimensionsArgs>();
  dims.buffer = buffer;
  Check(Call(api_, api_.buffer_dimensions, &dims));
  auto type = Made<abi::BufferElementTypeArgs>();
  type.buffer = buffer;
  Check(Call(api_, api_.buffer_element_type, &type));
  *tensor = {type.type, {dims.dims, dims.dims + dims.rank}, ""};
  auto args = Made<abi::BufferToHostArgs>();
  args.buffer = buffer;
  Check(Call(api_, api_.buffer_to_host_buffer, &args));
  tensor->bytes.resize(args.size);
  char nothing = 0;
  args.data = args.size ? tensor->bytes.data() : &nothing;
  const std::string error = Call(api_, api_.buffer_to_host_buffer, &args);
  return error.empty() ? Await(args.event) : error;
}

Tensor Client::Downloaded(abi::Buffer* buffer) const {
  Tensor tensor;
  Check(Download(buffer, &tensor));
  return tensor;
}

void Client::Destroy(abi::Buffer* buffer) const {
  auto args = Made<abi::BufferArgs>();
  args.buffer = buffer;
  Check(Call(api_, api_.buffer_destroy, &args));
}

void Client::Destroy(abi::LoadedExecutable* executable) const {
  auto args = Made<abi::LoadedArgs>();
  args.executable = executable;
  Check(Call(api_, api_.loaded_executable_destroy, &args));
}

std::string Client::Await(abi::Event* event) const {
  auto args = Made<abi::EventArgs>();
  args.event = event;
  const std::string error = Call(api_, api_.event_await, &args);
  api_.event_destroy(&args);
  return error;
}

std::vector<Tensor> Client::Run(const std::string& text,
                                const std::vector<Tensor>& arguments) const {
  abi::LoadedExecutable* executable = Compiled(text);
  std::vector<abi::Buffer*> in, out;
  for (const Tensor& tensor : arguments) in.push_back(Upload(tensor));
  abi::Event* complete = nullptr;
  std::string error = Execute(executable, in, &out, &complete);
  if (complete) {
    const std::string late = Await(complete);
    error = error.empty() ? late : error;
  }
  std::vector<Tensor> results;
  for (abi::Buffer* buffer : out) {
    if (error.empty()) results.push_back(Downloaded(buffer));
    if (buffer) Destroy(buffer);
  }
  for (abi::Buffer* buffer : in) Destroy(buffer);
  Destroy(executable);
  Check(error);
  return results;
}

std::string Main(const std::string& types, const std::string& body, const std::string& arguments) {
  return "module @test {\n  func.func public @main(" + arguments + ") -> (" + types + ") {\n" +
         body + "\n  }\n}\n";
}

}  // namespace tenon::pjrt_test
