#include "plugin/pjrt/client.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"
#include "plugin/pjrt/element_type.h"

namespace tenon::pjrt {
namespace {

constexpr size_t kMostDevices = 4096;
constexpr size_t kMostProgramBytes = size_t{4} << 30;
constexpr std::string_view kFormat = "mlir";

}  // namespace

absl::StatusOr<std::shared_ptr<Client>> Client::Create(std::shared_ptr<const Api> api,
                                                       const std::vector<ClientOption>& options,
                                                       Defaults defaults) {
  TENON_ASSIGN_OR_RETURN(const std::vector<NameAndText> attributes, api->Attributes());
  std::shared_ptr<Client> client(new Client(std::move(api)));
  client->is_xla_ = std::any_of(attributes.begin(), attributes.end(),
                                [](const NameAndText& a) { return a.first == "xla_version"; });
  std::vector<ClientOption> all;
  if (defaults == Defaults::kHarmless)
    all = DefaultsFor(client->api_->plugin(), attributes, options);
  const bool has_defaults = !all.empty();
  all.insert(all.end(), options.begin(), options.end());
  absl::Status made = client->Make(all);
  // A plug-in that knows no such option says so; then it is asked again without our defaults.
  if (has_defaults && absl::IsInvalidArgument(made)) made = client->Make(options);
  TENON_RETURN_IF_ERROR(made);
  TENON_RETURN_IF_ERROR(client->Describe());
  client->mapped_.emplace(client->api_, client->client_);
  return client;
}

absl::Status Client::Make(const std::vector<ClientOption>& options) {
  const std::vector<abi::NamedValue> values = ToNamedValues(options);
  auto args = Fresh<abi::ClientCreateArgs>();
  args.options = values.data();
  args.num_options = values.size();
  TENON_RETURN_IF_ERROR(api_->Call(fn::Client_Create, args));
  client_ = args.client;
  if (client_ != nullptr) return absl::OkStatus();
  return api_->Fault("neither a client nor an error", fn::Client_Create.name);
}

Client::~Client() {
  if (client_ == nullptr) return;
  programs_.Clear();
  mapped_.reset();
  auto args = Fresh<abi::ClientDestroyArgs>();
  args.client = client_;
  api_->Release(fn::Client_Destroy, args);
}

absl::StatusOr<std::string> Client::Text(const Function<abi::ClientTextArgs>& function) {
  auto args = Fresh<abi::ClientTextArgs>();
  args.client = client_;
  TENON_RETURN_IF_ERROR(api_->Call(function, args));
  return OneLine(TextAt(args.text, args.text_size));
}

absl::Status Client::Describe() {
  TENON_ASSIGN_OR_RETURN(platform_name_, Text(fn::Client_PlatformName));
  if (platform_name_.empty())
    return api_->Fault("a platform without a name", fn::Client_PlatformName.name);
  TENON_ASSIGN_OR_RETURN(platform_version_, Text(fn::Client_PlatformVersion));
  auto args = Fresh<abi::ClientDevicesArgs>();
  args.client = client_;
  TENON_RETURN_IF_ERROR(api_->Call(fn::Client_AddressableDevices, args));
  if (args.num_devices > kMostDevices || (args.num_devices > 0 && args.devices == nullptr)) {
    return api_->Fault(absl::StrCat("a list of ", args.num_devices, " devices"),
                       fn::Client_AddressableDevices.name);
  }
  for (size_t i = 0; i < args.num_devices; ++i) {
    if (args.devices[i] == nullptr)
      return api_->Fault("a device that is NULL", fn::Client_AddressableDevices.name);
    TENON_ASSIGN_OR_RETURN(DeviceInfo info, DescribeDevice(args.devices[i]));
    devices_.push_back(std::move(info));
  }
  return absl::OkStatus();
}

absl::StatusOr<DeviceInfo> Client::DescribeDevice(abi::Device* device) {
  DeviceInfo info;
  info.device = device;
  auto get = Fresh<abi::DeviceGetDescriptionArgs>();
  get.device = device;
  TENON_RETURN_IF_ERROR(api_->Call(fn::Device_GetDescription, get));
  auto id = Fresh<abi::DescriptionNumberArgs>();
  id.description = get.description;
  TENON_RETURN_IF_ERROR(api_->Call(fn::DeviceDescription_Id, id));
  info.id = id.number;
  auto kind = Fresh<abi::DescriptionTextArgs>();
  kind.description = get.description;
  TENON_RETURN_IF_ERROR(api_->Call(fn::DeviceDescription_Kind, kind));
  info.kind = OneLine(TextAt(kind.text, kind.text_size));
  // What follows is for reports alone: what fails is left out, with a warning.
  WarnOf(DescribeDetails(info, get.description));
  DescribeMemories(info);
  DescribeLimits(info);
  return info;
}

absl::Status Client::DescribeDetails(DeviceInfo& info, abi::DeviceDescription* description) {
  if (api_->Has(fn::DeviceDescription_ToString)) {
    auto text = Fresh<abi::DescriptionTextArgs>();
    text.description = description;
    TENON_RETURN_IF_ERROR(api_->Call(fn::DeviceDescription_ToString, text));
    info.text = OneLine(TextAt(text.text, text.text_size));
  }
  if (api_->Has(fn::Device_LocalHardwareId)) {
    auto local = Fresh<abi::DeviceLocalHardwareIdArgs>();
    local.device = info.device;
    TENON_RETURN_IF_ERROR(api_->Call(fn::Device_LocalHardwareId, local));
    info.local_hardware_id = local.id;
  }
  if (api_->Has(fn::DeviceDescription_Attributes)) {
    auto attributes = Fresh<abi::DescriptionAttributesArgs>();
    attributes.description = description;
    TENON_RETURN_IF_ERROR(api_->Call(fn::DeviceDescription_Attributes, attributes));
    TENON_ASSIGN_OR_RETURN(info.attributes,
                           api_->TextsOf(attributes.attributes, attributes.num_attributes,
                                         fn::DeviceDescription_Attributes.name));
  }
  return absl::OkStatus();
}

void Client::DescribeMemories(DeviceInfo& info) {
  if (!api_->Has(fn::Device_AddressableMemories) || !api_->Has(fn::Memory_Kind)) return;
  const auto kind_of = [this](abi::Memory* memory) -> std::string {
    auto kind = Fresh<abi::MemoryTextArgs>();
    kind.memory = memory;
    if (memory == nullptr || !api_->Call(fn::Memory_Kind, kind).ok()) return "";
    return OneLine(TextAt(kind.text, kind.text_size));
  };
  auto list = Fresh<abi::DeviceMemoriesArgs>();
  list.device = info.device;
  if (!api_->Call(fn::Device_AddressableMemories, list).ok() || list.memories == nullptr) return;
  if (list.num_memories > kMostDevices) {
    WarnOf(api_->Fault(absl::StrCat("a list of ", list.num_memories, " memories"),
                       fn::Device_AddressableMemories.name));
    return;
  }
  for (size_t i = 0; i < list.num_memories; ++i) info.memories.push_back(kind_of(list.memories[i]));
  auto standard = Fresh<abi::DeviceDefaultMemoryArgs>();
  standard.device = info.device;
  if (api_->Has(fn::Device_DefaultMemory) && api_->Call(fn::Device_DefaultMemory, standard).ok())
    info.default_memory = kind_of(standard.memory);
}

// XLA's CPU answers UNIMPLEMENTED.
void Client::DescribeLimits(DeviceInfo& info) {
  if (!api_->Has(fn::Device_MemoryStats)) return;
  auto stats = Fresh<abi::DeviceMemoryStatsArgs>();
  stats.device = info.device;
  if (api_->Call(fn::Device_MemoryStats, stats).ok() && stats.bytes_limit.is_set)
    info.bytes_limit = stats.bytes_limit.value;
}

absl::StatusOr<std::shared_ptr<Executable>> Client::Compile(std::string_view text, size_t device,
                                                            absl::Span<const BufferSpec> results,
                                                            std::string_view node) {
  TENON_ASSIGN_OR_RETURN(
      std::shared_ptr<const LoadedProgram> program,
      programs_.Get(device, text, [&] { return CompileAnew(text, device, node); }));
  auto executable = std::make_shared<Executable>(shared_from_this(), std::move(program));
  TENON_RETURN_IF_ERROR(executable->CheckResults(results, node));
  return executable;
}

absl::StatusOr<std::shared_ptr<const LoadedProgram>> Client::CompileAnew(std::string_view text,
                                                                         size_t device,
                                                                         std::string_view node) {
  auto program = Fresh<abi::Program>();
  program.code = text.data();
  program.code_size = text.size();
  program.format = kFormat.data();
  program.format_size = kFormat.size();
  const std::string options =
      CompileOptions(devices_[device].id,
                     is_xla_ ? XlaFlagsOff(platform_name_) : absl::Span<const std::string_view>());
  std::shared_ptr<const DiskCache> disk;
  {
    absl::MutexLock lock(&disk_mutex_);
    disk = disk_;
  }
  std::string key;
  if (disk != nullptr) {
    key = DiskKey(text, device, options);
    if (auto loaded = LoadFromDisk(*disk, key, node)) return loaded;
  }
  auto args = Fresh<abi::ClientCompileArgs>();
  args.client = client_;
  args.program = &program;
  args.options = options.data();
  args.options_size = options.size();
  TENON_RETURN_IF_ERROR(api_->Call(fn::Client_Compile, args, node));
  if (args.executable == nullptr)
    return api_->Fault("neither an executable nor an error", fn::Client_Compile.name);
  auto compiled = std::make_shared<const LoadedProgram>(api_, args.executable);
  if (disk != nullptr) SaveToDisk(*disk, key, *compiled, node);
  return compiled;
}

void Client::set_program_folder(const std::string& folder) {
  absl::MutexLock lock(&disk_mutex_);
  if (folder == program_folder_) return;
  program_folder_ = folder;
  disk_ = folder.empty() ? nullptr : std::make_shared<const DiskCache>(folder);
}

// A program holds for one build of the plug-in, on such a device, with these options.
std::string Client::DiskKey(std::string_view text, size_t device, std::string_view options) const {
  const DeviceInfo& info = devices_[device];
  return absl::StrCat(api_->plugin(), "\n", IdentityOfFile(api_->plugin()), "\n", platform_name_,
                      "\n", platform_version_, "\n", info.kind, "\n", info.id, "\n", options, "\n",
                      text);
}

// What the plug-in does not take any more is compiled anew.
std::shared_ptr<const LoadedProgram> Client::LoadFromDisk(const DiskCache& disk,
                                                          std::string_view key,
                                                          std::string_view node) {
  if (!api_->Has(fn::Executable_DeserializeAndLoad)) return nullptr;
  const std::optional<std::string> bytes = disk.Read(key);
  if (!bytes) return nullptr;
  auto args = Fresh<abi::DeserializeAndLoadArgs>();
  args.client = client_;
  args.bytes = bytes->data();
  args.num_bytes = bytes->size();
  if (!api_->Call(fn::Executable_DeserializeAndLoad, args, node).ok() || args.executable == nullptr)
    return nullptr;
  return std::make_shared<const LoadedProgram>(api_, args.executable);
}

// A plug-in that cannot serialize costs the cache, and nothing else.
void Client::SaveToDisk(const DiskCache& disk, std::string_view key, const LoadedProgram& program,
                        std::string_view node) {
  if (!api_->Has(fn::Executable_Serialize)) return;
  auto get = Fresh<abi::LoadedGetExecutableArgs>();
  get.loaded = program.get();
  if (!api_->Call(fn::LoadedExecutable_GetExecutable, get, node).ok()) return;
  auto args = Fresh<abi::ExecutableSerializeArgs>();
  args.executable = get.executable;
  if (api_->Call(fn::Executable_Serialize, args, node).ok() && args.bytes != nullptr) {
    if (args.num_bytes <= kMostProgramBytes) {
      disk.Write(key, std::string_view(args.bytes, args.num_bytes));
    } else {
      WarnOf(api_->Fault(absl::StrCat("a program of ", args.num_bytes, " bytes"),
                         fn::Executable_Serialize.name));
    }
  }
  if (args.deleter != nullptr) {
    WarnOf(CallPlugin(api_->plugin().c_str(), "the deleter of PJRT_Executable_Serialize", node,
                      [&] { args.deleter(args.handle); }));
  }
  auto destroy = Fresh<abi::ExecutableDestroyArgs>();
  destroy.executable = get.executable;
  api_->Release(fn::Executable_Destroy, destroy);
}

absl::StatusOr<Buffer> Client::Upload(const void* data, const BufferSpec& spec, size_t device,
                                      HostData stays, Event* transferred, std::string_view node) {
  TENON_ASSIGN_OR_RETURN(const abi::ElementType type, ToElementType(spec.type));
  auto args = Fresh<abi::ClientBufferFromHostBufferArgs>();
  args.client = client_;
  args.data = data;
  args.type = type;
  args.dims = spec.shape.dims().data();
  args.rank = spec.shape.dims().size();
  args.semantics =
      stays == HostData::kUntilBufferGone ? abi::kZeroCopy : abi::kUntilTransferCompletes;
  args.device = devices_[device].device;
  TENON_RETURN_IF_ERROR(api_->Call(fn::Client_BufferFromHostBuffer, args, node));
  Event done(api_, args.done_with_host_data);
  if (args.buffer == nullptr)
    return api_->Fault("neither a buffer nor an error", fn::Client_BufferFromHostBuffer.name);
  Buffer buffer(shared_from_this(), args.buffer);
  // Without a copy the event is ready only when the buffer is gone: to wait for it would be to wait
  // for ever.
  if (stays == HostData::kUntilUploaded) {
    TENON_RETURN_IF_ERROR(done.Await(timeout_s_, "the transfer to the device", node));
  } else {
    *transferred = std::move(done);
  }
  return buffer;
}

}  // namespace tenon::pjrt
