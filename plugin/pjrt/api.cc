// Reads a plug-in's table with suspicion: sizes before pointers, lists with a bound.

#include "plugin/pjrt/api.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "graph/base/one_line.h"
#include "graph/base/status_macros.h"

namespace tenon::pjrt {
namespace {

constexpr size_t kFirstSlot = 40;        // bytes before the first function
constexpr size_t kMostMessage = 2000;    // bytes of a message: XLA's hold whole modules
constexpr size_t kMostText = 64 << 10;   // bytes of any other text
constexpr size_t kMostValues = 1 << 16;  // of an array of a plug-in
constexpr size_t kMostTableBytes = 1 << 16;
constexpr int kMostExtensions = 256;

// In the order of the types' numbers.
constexpr std::string_view kExtensions[] = {"Gpu_Custom_Call",
                                            "Profiler",
                                            "Custom_Partitioner",
                                            "Stream",
                                            "Layouts",
                                            "FFI",
                                            "MemoryDescriptions",
                                            "Triton",
                                            "RawBuffer",
                                            "PhaseCompile",
                                            "Example",
                                            "Unknown",
                                            "CrossHostTransfers",
                                            "ExecutableMetadata",
                                            "Callback",
                                            "HostAllocator",
                                            "TpuTopology",
                                            "TpuExecutable",
                                            "Megascale",
                                            "Shardings",
                                            "AbiVersion",
                                            "Collectives",
                                            "MultiSlice",
                                            "HostMemoryAllocator",
                                            "XlaTransform"};

struct SlotName {
  const char* name;
  size_t offset;
};
#define TENON_PJRT_NAME(Name, member, Args) {"PJRT_" #Name, offsetof(abi::Api, member)},
constexpr SlotName kSlots[] = {TENON_PJRT_SLOTS(TENON_PJRT_NAME, TENON_PJRT_NAME)};
#undef TENON_PJRT_NAME

// Without these no buffer can be made and no error read.
constexpr const char* kNeededForBuffers[] = {
    "PJRT_Error_Destroy",
    "PJRT_Error_Message",
    "PJRT_Error_GetCode",
    "PJRT_Plugin_Initialize",
    "PJRT_Event_Destroy",
    "PJRT_Event_IsReady",
    "PJRT_Event_Error",
    "PJRT_Event_OnReady",
    "PJRT_Client_Create",
    "PJRT_Client_Destroy",
    "PJRT_Client_PlatformName",
    "PJRT_Client_PlatformVersion",
    "PJRT_Client_AddressableDevices",
    "PJRT_Client_BufferFromHostBuffer",
    "PJRT_DeviceDescription_Id",
    "PJRT_DeviceDescription_Kind",
    "PJRT_Device_GetDescription",
    "PJRT_Buffer_Destroy",
    "PJRT_Buffer_ElementType",
    "PJRT_Buffer_Dimensions",
    "PJRT_Buffer_ToHostBuffer",
    "PJRT_Buffer_ReadyEvent",
};
// And without these no program can be run.
constexpr const char* kNeededForPrograms[] = {
    "PJRT_Client_Compile",
    "PJRT_Executable_Destroy",
    "PJRT_Executable_NumOutputs",
    "PJRT_LoadedExecutable_Destroy",
    "PJRT_LoadedExecutable_GetExecutable",
    "PJRT_LoadedExecutable_Execute",
    "PJRT_Executable_OutputElementTypes",
    "PJRT_Executable_OutputDimensions",
};

bool IsIn(absl::Span<const char* const> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

absl::StatusCode CodeOf(int code) {
  const bool known = code > 0 && code <= static_cast<int>(absl::StatusCode::kUnauthenticated);
  return known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown;
}

std::string Cut(std::string_view message) {
  std::string line = OneLine(message.substr(0, kMostMessage));
  if (message.size() > kMostMessage) absl::StrAppend(&line, " [cut]");
  return line;
}

}  // namespace

std::string_view TextAt(const char* text, size_t size) {
  return text == nullptr ? std::string_view() : std::string_view(text, std::min(size, kMostText));
}

std::string TextOf(const abi::NamedValue& value) {
  using Type = abi::NamedValue::Type;
  switch (value.type) {
    case Type::kString:
      return std::string(TextAt(value.text, value.value_size));
    case Type::kInt64:
      return absl::StrCat(value.integer);
    case Type::kInt64List:
      if (value.integers == nullptr) return "";
      return absl::StrJoin(
          absl::MakeConstSpan(value.integers, std::min(value.value_size, kMostValues)), ".");
    case Type::kFloat:
      return absl::StrCat(value.number);
    case Type::kBool:
      return value.truth ? "true" : "false";
  }
  return absl::StrCat("a value of type ", static_cast<int>(value.type));
}

absl::StatusOr<std::vector<NameAndText>> Api::TextsOf(const abi::NamedValue* values, size_t count,
                                                      const char* function) const {
  std::vector<NameAndText> texts;
  if (values == nullptr) return texts;
  if (count > kMostValues) return Fault(absl::StrCat("a list of ", count, " attributes"), function);
  for (size_t i = 0; i < count; ++i)
    texts.emplace_back(TextAt(values[i].name, values[i].name_size), TextOf(values[i]));
  return texts;
}

absl::StatusOr<std::shared_ptr<const Api>> Api::Open(std::string plugin, abi::GetApi* get) {
  const abi::Api* table = nullptr;
  TENON_RETURN_IF_ERROR(CallPlugin(plugin.c_str(), "GetPjrtApi", "", [&] { table = get(); }));
  return OfTable(std::move(plugin), table, Use::kPrograms);
}

absl::StatusOr<std::shared_ptr<const Api>> Api::OfTable(std::string plugin, const abi::Api* table,
                                                        Use use) {
  std::shared_ptr<Api> api(new Api(std::move(plugin)));
  api->table_ = table;
  TENON_RETURN_IF_ERROR(api->Check(use));
  return api;
}

absl::Status Api::Check(Use use) {
  const auto refuse = [](const auto&... what) {
    return absl::FailedPreconditionError(absl::StrCat(what...));
  };
  if (table_ == nullptr) return refuse("GetPjrtApi returns NULL");
  facts_.struct_size = table_->struct_size;
  if (facts_.struct_size < kFirstSlot || facts_.struct_size > kMostTableBytes) {
    return refuse("its table of functions says that it has ", facts_.struct_size,
                  " bytes; one has 40 and 8 for each function");
  }
  facts_.major = table_->version.major;
  facts_.minor = table_->version.minor;
  if (facts_.major != abi::kMajorVersion) {
    return refuse("it has version ", facts_.major, ".", facts_.minor,
                  " of PJRT's interface; this host has ", abi::kMajorVersion, ".",
                  abi::kMinorVersion, ", and other major versions do not fit");
  }
  ReadSlots();
  ReadExtensions();
  const std::vector<const char*> missing = MissingFor(use);
  has_programs_ = MissingFor(Use::kPrograms).empty();
  if (missing.empty()) return absl::OkStatus();
  return refuse("its table (version ", facts_.major, ".", facts_.minor, ") lacks ",
                absl::StrJoin(missing, ", "), ", which a host needs");
}

std::vector<const char*> Api::MissingFor(Use use) const {
  std::vector<const char*> missing;
  for (const SlotName& slot : kSlots) {
    const bool needed = IsIn(kNeededForBuffers, slot.name) ||
                        (use == Use::kPrograms && IsIn(kNeededForPrograms, slot.name));
    const void* const at = reinterpret_cast<const char*>(table_) + slot.offset;
    if (!needed || (HasSlot(at) && *static_cast<void* const*>(at) != nullptr)) continue;
    missing.push_back(slot.name);
  }
  return missing;
}

bool Api::HasSlot(const void* slot) const {
  const auto offset =
      static_cast<size_t>(static_cast<const char*>(slot) - reinterpret_cast<const char*>(table_));
  return offset + sizeof(void*) <= table_->struct_size;
}

void Api::ReadSlots() {
  const size_t count = (facts_.struct_size - kFirstSlot) / sizeof(void*);
  const auto* const slots =
      reinterpret_cast<void* const*>(reinterpret_cast<const char*>(table_) + kFirstSlot);
  for (size_t i = 0; i < count; ++i) {
    if (slots[i] != nullptr) {
      ++facts_.functions;
    } else {
      facts_.holes.push_back(i < std::size(kSlots) ? kSlots[i].name : absl::StrCat("slot ", i));
    }
  }
  if (table_->version.struct_size < abi::kStructSize<abi::Version>) {
    facts_.warnings.push_back(absl::StrCat("the struct of its version says that it has ",
                                           table_->version.struct_size, " bytes, not ",
                                           abi::kStructSize<abi::Version>));
  }
}

void Api::ReadExtensions() {
  int left = kMostExtensions;
  for (const abi::Extension* e = table_->extensions; e != nullptr; e = e->next) {
    if (left-- == 0) {
      facts_.extensions.clear();
      facts_.warnings.push_back("its list of extensions is a loop, or has no end");
      return;
    }
    const bool known = e->type >= 0 && static_cast<size_t>(e->type) < std::size(kExtensions);
    facts_.extensions.push_back(known ? std::string(kExtensions[e->type])
                                      : absl::StrCat("type ", e->type));
  }
}

absl::Status Api::Initialize() const {
  auto args = Fresh<abi::PluginInitializeArgs>();
  return Call(fn::Plugin_Initialize, args);
}

absl::StatusOr<std::vector<NameAndText>> Api::Attributes() const {
  if (!Has(fn::Plugin_Attributes)) return std::vector<NameAndText>();
  auto args = Fresh<abi::PluginAttributesArgs>();
  TENON_RETURN_IF_ERROR(Call(fn::Plugin_Attributes, args));
  return TextsOf(args.attributes, args.num_attributes, fn::Plugin_Attributes.name);
}

absl::Status Api::Missing(const char* function) const {
  return Attribute(absl::UnimplementedError("the plug-in has no such function"), function, plugin_);
}

absl::Status Api::Fault(std::string_view what, const char* function) const {
  return PluginFault(Attribute(absl::InternalError(what), function, plugin_));
}

absl::Status Api::TakeError(abi::Error* error, const char* function) const {
  if (error == nullptr) return absl::OkStatus();
  auto text = Fresh<abi::ErrorMessageArgs>();
  text.error = error;
  auto code = Fresh<abi::ErrorGetCodeArgs>();
  code.error = error;
  std::string message;
  absl::Status read = CallPlugin(plugin_.c_str(), "PJRT_Error_Message", "", [&] {
    table_->error_message(&text);
    message = Cut(TextAt(text.message, text.message_size));
  });
  // Not by Call, which would ask an error of this function for its code, too, and so on.
  abi::Error* of_code = nullptr;
  if (Has(fn::Error_GetCode))
    read.Update(CallPlugin(plugin_.c_str(), fn::Error_GetCode.name, "",
                           [&] { of_code = table_->error_get_code(&code); }));
  if (of_code != nullptr) code.code = 0;  // unknown
  for (abi::Error* const one : {error, of_code}) {
    if (one == nullptr) continue;
    auto destroy = Fresh<abi::ErrorDestroyArgs>();
    destroy.error = one;
    read.Update(CallPlugin(plugin_.c_str(), "PJRT_Error_Destroy", "",
                           [&] { table_->error_destroy(&destroy); }));
  }
  if (!read.ok()) return read;
  if (message.empty()) message = "an error without a text";
  return Attribute(absl::Status(CodeOf(code.code), message), function, plugin_);
}

}  // namespace tenon::pjrt
