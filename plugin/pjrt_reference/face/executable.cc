// Executables: compiled, asked, serialized.
#include <algorithm>
#include <cstring>
#include <utility>

#include "functions.h"
#include "more.h"
#include "objects.h"

namespace pjref::functions {

using namespace tenon::pjrt::abi;  // The structs' names.

namespace {

abi::LoadedExecutable* Load(ClientObject* client, std::shared_ptr<const Program> program) {
  auto loaded = std::make_unique<LoadedObject>();
  loaded->client = client;
  if (!program->options.portable) {
    const int64_t id = std::max<int64_t>(program->options.device, 0);
    DeviceObject* device = client->Find(id);
    if (!device)
      throw Refusal(Code::kInvalidArgument, "the device assignment names device " +
                                                std::to_string(id) + ", which does not exist");
    loaded->devices = {Theirs(device)};
  }
  loaded->program = std::move(program);
  return Theirs(loaded.release());
}

const Program& ProgramOf(const abi::Executable* executable) {
  Need(executable, "executable");
  return *Mine(executable)->program;
}

}  // namespace

void Client_Compile(ClientCompileArgs* args) {
  Need(args->client, "client");
  Need(args->program, "program");
  Need(args->program->code, "program.code");
  ClientObject* client = Mine(args->client);
  client->CheckAlive();
  const auto options = pjref::CompileOptions::Parse(
      {args->options ? args->options : "", args->options ? args->options_size : 0});
  args->executable =
      Load(client, Program::Compile({args->program->code, args->program->code_size},
                                    {args->program->format, args->program->format_size}, options,
                                    client->settings));
}

void Executable_Destroy(ExecutableDestroyArgs* args) { delete Mine(args->executable); }

void Executable_Name(ExecutableTextArgs* args) {
  const std::string& name = ProgramOf(args->executable).module->name;
  args->text = name.data();
  args->text_size = name.size();
}

void Executable_Fingerprint(ExecutableTextArgs* args) {
  const std::string& text = ProgramOf(args->executable).fingerprint;
  args->text = text.data();
  args->text_size = text.size();
}

void LoadedExecutable_Fingerprint(LoadedTextArgs* args) {
  Need(args->executable, "executable");
  const std::string& text = Mine(args->executable)->program->fingerprint;
  args->text = text.data();
  args->text_size = text.size();
}

void Executable_NumReplicas(ExecutableCountArgs* args) { args->count = 1; }
void Executable_NumPartitions(ExecutableCountArgs* args) { args->count = 1; }
void Executable_NumOutputs(ExecutableCountArgs* args) {
  args->count = ProgramOf(args->executable).shown.size();
}

void Executable_SizeOfGeneratedCodeInBytes(ExecutableCodeSizeArgs* args) {
  args->bytes = static_cast<int64_t>(ProgramOf(args->executable).code.size());
}

void Executable_GetCostAnalysis(ExecutableCostArgs* args) {
  args->num_properties = 0;
  args->properties = nullptr;
}

void Executable_OutputMemoryKinds(ExecutableOutputMemoryKindsArgs* args) {
  static constexpr size_t kMost = 4096;
  static const std::vector<const char*>* const kKinds =
      new std::vector<const char*>(kMost, "device");
  static const std::vector<size_t>* const kSizes = new std::vector<size_t>(kMost, 6);
  args->num_outputs = ProgramOf(args->executable).shown.size();
  if (args->num_outputs > kMost) throw Refusal(Code::kUnimplemented, "there are too many results");
  args->kinds = kKinds->data();
  args->kind_sizes = kSizes->data();
}

void Executable_OptimizedProgram(ExecutableOptimizedProgramArgs* args) {
  static constexpr char kFormat[] = "mlir";
  const std::string& code = ProgramOf(args->executable).code;
  Need(args->program, "program");
  args->program->format = kFormat;
  args->program->format_size = 4;
  if (args->program->code) {
    if (args->program->code_size < code.size())
      throw Refusal(Code::kInvalidArgument, "the program does not fit");
    std::memcpy(const_cast<char*>(args->program->code), code.data(), code.size());
  }
  args->program->code_size = code.size();
}

void Executable_OutputElementTypes(ExecutableOutputTypesArgs* args) {
  static_assert(sizeof(ElementType) == sizeof(int));
  const Program& program = ProgramOf(args->executable);
  args->types = reinterpret_cast<ElementType*>(const_cast<int*>(program.element_types.data()));
  args->num_types = program.element_types.size();
}

void Executable_OutputDimensions(ExecutableOutputDimensionsArgs* args) {
  const Program& program = ProgramOf(args->executable);
  args->num_outputs = program.shown.size();
  args->dims = program.dims.data();
  args->ranks = program.ranks.data();
}

void Executable_GetCompiledMemoryStats(ExecutableMemoryStatsArgs* args) {
  const Program& program = ProgramOf(args->executable);
  const auto sum = [](const std::vector<Type>& types) {
    int64_t bytes = 0;
    for (const Type& type : types) bytes += static_cast<int64_t>(type.bytes());
    return bytes;
  };
  args->code_bytes = static_cast<int64_t>(program.code.size());
  args->argument_bytes = sum(program.parameters);
  args->output_bytes = sum(program.results);
  args->aliased_bytes = 0;
  for (size_t k = 0; k < program.results.size(); ++k) {
    if (program.aliases[k] >= 0)
      args->aliased_bytes += static_cast<int64_t>(program.results[k].bytes());
  }
  args->temporary_bytes = args->host_code_bytes = args->host_argument_bytes =
      args->host_output_bytes = args->host_aliased_bytes = args->host_temporary_bytes = 0;
  args->peak_bytes = args->total_bytes =
      args->argument_bytes + args->output_bytes - args->aliased_bytes;
}

void Executable_Serialize(ExecutableSerializeArgs* args) {
  Need(args->executable, "executable");
  auto* made = new SerializedObject{Mine(args->executable)->program->Serialize()};
  args->bytes = made->bytes.data();
  args->num_bytes = made->bytes.size();
  args->handle = Theirs(made);
  args->deleter = [](abi::SerializedExecutable* handle) { delete Mine(handle); };
}

void Executable_DeserializeAndLoad(DeserializeAndLoadArgs* args) {
  Need(args->client, "client");
  Need(args->bytes, "serialized_executable");
  ClientObject* client = Mine(args->client);
  client->CheckAlive();
  args->executable =
      Load(client, Program::Deserialize({args->bytes, args->num_bytes}, client->settings));
}

namespace {

template <typename Args>
void GiveBytes(std::string bytes, Args* args) {
  auto* made = new SerializedObject{std::move(bytes)};
  args->bytes = made->bytes.data();
  args->num_bytes = made->bytes.size();
  args->handle = made;
  args->deleter = [](void* handle) { delete static_cast<SerializedObject*>(handle); };
}

}  // namespace

// One replica of one computation, on the device for which the program was compiled.
void DeviceAssignment(DeviceAssignmentArgs* args) {
  Need(args->executable, "executable");
  std::string id;
  for (uint64_t left = static_cast<uint64_t>(
           std::max<int64_t>(Mine(args->executable)->program->options.device, 0));
       ; left >>= 7) {
    id += static_cast<char>((left & 0x7F) | (left > 0x7F ? 0x80 : 0));
    if (left <= 0x7F) break;
  }
  const auto field = [](char tag, const std::string& bytes) {
    return std::string{tag, static_cast<char>(bytes.size())} + bytes;
  };
  GiveBytes("\x08\x01\x10\x01" + field('\x1a', field('\x0a', id)), args);
}

void CompileOptions(CompileOptionsArgs* args) {
  GiveBytes(ProgramOf(args->executable).options.bytes, args);
}

void LoadedExecutable_Destroy(LoadedArgs* args) { delete Mine(args->executable); }

void LoadedExecutable_GetExecutable(LoadedGetExecutableArgs* args) {
  Need(args->loaded, "loaded_executable");
  args->executable = Theirs(new ExecutableObject{Mine(args->loaded)->program});
}

void LoadedExecutable_AddressableDevices(LoadedDevicesArgs* args) {
  Need(args->executable, "executable");
  args->devices = Mine(args->executable)->devices.data();
  args->num_devices = Mine(args->executable)->devices.size();
}

void LoadedExecutable_Delete(LoadedArgs* args) {
  Need(args->executable, "executable");
  Mine(args->executable)->deleted = true;
}

void LoadedExecutable_IsDeleted(LoadedIsDeletedArgs* args) {
  Need(args->executable, "executable");
  args->is_deleted = Mine(args->executable)->deleted;
}

}  // namespace pjref::functions
