// GetPjrtApi: the table, and the guard around each of its functions.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>

#include "functions.h"
#include "more.h"
#include "objects.h"

namespace pjref {
namespace {

enum Slot : size_t {
#define PJREF_SLOT(Name, member, Args) k##Name,
  TENON_PJRT_SLOTS(PJREF_SLOT, PJREF_SLOT)
#undef PJREF_SLOT
      kNumSlots
};

// Does what the environment or a client's options ask of a function instead of its work.
void Misbehave(Slot slot) {
  static std::atomic<int64_t> calls[kNumSlots];
  const Settings& settings = Settings::OfEnvironment();
  if (settings.trace) std::fprintf(stderr, "PJRT_%s\n", functions::kNames[slot]);
  if (settings.faults.empty()) return;
  const int64_t call = ++calls[slot];
  const auto found = settings.faults.find(functions::kNames[slot]);
  if (found == settings.faults.end() || call < found->second.from) return;
  const Settings::Fault& fault = found->second;
  switch (fault.kind) {
    case Settings::Fault::kError:
      throw Refusal(static_cast<Code>(fault.code),
                    std::string("PJRT_") + functions::kNames[slot] + " was asked to fail");
    case Settings::Fault::kHang:
      std::this_thread::sleep_for(std::chrono::milliseconds(fault.milliseconds));
      return;
    case Settings::Fault::kThrow:
      break;
  }
}

bool Throws(Slot slot) {
  const auto found = Settings::OfEnvironment().faults.find(functions::kNames[slot]);
  return found != Settings::OfEnvironment().faults.end() &&
         found->second.kind == Settings::Fault::kThrow;
}

void CheckHead(Slot slot, const abi::Head& head, size_t needed) {
  if (head.struct_size >= needed) return;
  throw Refusal(Code::kInvalidArgument, std::string("Unexpected PJRT_") + functions::kNames[slot] +
                                            "_Args size: expected " + std::to_string(needed) +
                                            ", got " + std::to_string(head.struct_size) +
                                            ". The plug-in has version " +
                                            std::to_string(abi::kMajorVersion) + "." +
                                            std::to_string(abi::kMinorVersion) + ".");
}

template <Slot slot, typename Args, void (*body)(Args*)>
abi::Error* Enter(Args* args) {
  if (Throws(slot))
    throw std::runtime_error(std::string("PJRT_") + functions::kNames[slot] +
                             " throws, as it was asked to");
  try {
    Misbehave(slot);
    // Errors have no payloads. To fail here would lead a host that asks each error for them round
    // and round.
    if constexpr (slot == kError_ForEachPayload) return nullptr;
    if constexpr (std::is_same_v<Args, abi::NotDeclared>) {
      throw Refusal(Code::kUnimplemented, std::string("PJRT_") + functions::kNames[slot] +
                                              " is not implemented by this plug-in");
    } else {
      Need(args, "the argument");
      CheckHead(slot, args->head, abi::kStructSize<Args>);
      body(args);
    }
    return nullptr;
  } catch (const Refusal& refusal) {
    return NewError(refusal);
  } catch (const std::bad_alloc&) {
    return NewError(Refusal(Code::kResourceExhausted, "Out of memory"));
  } catch (const std::exception& error) {
    return NewError(Refusal(Code::kInternal, error.what()));
  }
}

template <Slot slot, typename Args, void (*body)(Args*)>
void EnterVoid(Args* args) {
  if (args && args->head.struct_size >= abi::kStructSize<Args>) body(args);
}

abi::Extension* MakeExtensions(const std::string& kind) {
  // Types that no host knows: in a loop, or with an end.
  static abi::Extension second = {sizeof(abi::Extension), 901, nullptr};
  static abi::Extension first = {sizeof(abi::Extension), 900, &second};
  if (kind.empty()) return nullptr;
  if (kind == "loop") second.next = &first;
  return &first;
}

const abi::Api* MakeApi() {
  static abi::Api api = {};
  const Settings& settings = Settings::OfEnvironment();
  if (settings.null_api) return nullptr;
  api.struct_size = settings.struct_size >= 0 ? static_cast<size_t>(settings.struct_size)
                                              : abi::kStructSize<abi::Api>;
  api.extensions = MakeExtensions(settings.extensions);
  api.version.struct_size = settings.version_struct_size >= 0
                                ? static_cast<size_t>(settings.version_struct_size)
                                : abi::kStructSize<abi::Version>;
  api.version.major = static_cast<int>(settings.major_version);
  api.version.minor = static_cast<int>(settings.minor_version);
#define PJREF_ENTER(Name, member, Args) api.member = &Enter<k##Name, abi::Args, &functions::Name>;
#define PJREF_ENTER_VOID(Name, member, Args) \
  api.member = &EnterVoid<k##Name, abi::Args, &functions::Name>;
  TENON_PJRT_SLOTS(PJREF_ENTER, PJREF_ENTER_VOID)
#undef PJREF_ENTER
#undef PJREF_ENTER_VOID
  // Their structs are ours, so the pointers in the table have another type.
  const auto put = [](auto* slot, auto* function) {
    *slot = reinterpret_cast<std::remove_reference_t<decltype(*slot)>>(function);
  };
  put(&api.loaded_executable_get_device_assignment,
      &Enter<kLoadedExecutable_GetDeviceAssignment, DeviceAssignmentArgs,
             &functions::DeviceAssignment>);
  put(&api.executable_get_compile_options,
      &Enter<kExecutable_GetCompileOptions, CompileOptionsArgs, &functions::CompileOptions>);
  for (const std::string& name : settings.null_functions) {
#define PJREF_HOLE(Name, member, Args) \
  if (name == #Name) api.member = nullptr;
    TENON_PJRT_SLOTS(PJREF_HOLE, PJREF_HOLE)
#undef PJREF_HOLE
  }
  return &api;
}

}  // namespace
}  // namespace pjref

extern "C" __attribute__((visibility("default"))) const tenon::pjrt::abi::Api* GetPjrtApi() {
  static const tenon::pjrt::abi::Api* const kApi = pjref::MakeApi();
  return kApi;
}
