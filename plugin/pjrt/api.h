// A plug-in's PJRT table as the host uses it: checked once, and every call made through the guard
// for plug-ins, with errors as statuses. The rest of this folder builds on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/c_api/callback_scope.h"
#include "tenon/pjrt/abi.h"

namespace tenon::pjrt {

// A function of the table.
template <typename Args>
struct Function {
  const char* name;  // "PJRT_Client_Create"
  abi::Error* (*abi::Api::*member)(Args*);
};

// The functions by their names without "PJRT_": fn::Client_Create.
namespace fn {
#define TENON_PJRT_FUNCTION(Name, member, Args) \
  inline constexpr Function<abi::Args> Name{"PJRT_" #Name, &abi::Api::member};
#define TENON_PJRT_VOID_FUNCTION(Name, member, Args)
TENON_PJRT_SLOTS(TENON_PJRT_FUNCTION, TENON_PJRT_VOID_FUNCTION)
#undef TENON_PJRT_FUNCTION
#undef TENON_PJRT_VOID_FUNCTION
}  // namespace fn

// A struct for a call: all zero, but for its size.
template <typename Args>
Args Fresh() {
  static_assert(abi::kStructSize<Args> != 0);
  Args args{};
  args.head.struct_size = abi::kStructSize<Args>;
  return args;
}

// What a table tells of itself, for reports.
struct TableFacts {
  int major = 0, minor = 0;
  size_t struct_size = 0;
  size_t functions = 0;                 // slots within struct_size that have a function
  std::vector<std::string> holes;       // names of slots within struct_size that have none
  std::vector<std::string> extensions;  // names; "type 99" for a type that is not known
  std::vector<std::string> warnings;    // faults that a host can live with
};

// A name and the value as text: "stablehlo_current_version", "1.13.3".
using NameAndText = std::pair<std::string, std::string>;

// The text of a value: "7", "0.5", "true", "1.13.3" for a list of integers.
std::string TextOf(const abi::NamedValue& value);
// The table of one plug-in. Immutable, shared by all objects of the plug-in; the library must stay
// mapped as long as any of them lives. Thread-safe.
class Api {
 public:
  // What the host wants of a plug-in.
  enum class Use : uint8_t {
    kPrograms,  // to compile and run programs
    kBuffers,   // tensors for kernels of the plug-in's own
  };
  // Calls GetPjrtApi and checks the table: the major version, and the functions that programs
  // cannot do without. Calls no function of it. Errors: FAILED_PRECONDITION with what is wrong, but
  // without the plug-in's path; INTERNAL for an exception.
  static absl::StatusOr<std::shared_ptr<const Api>> Open(std::string plugin, abi::GetApi* get);

  // The same for a table that GetPjrtApi has returned, which may be NULL, and for the functions
  // that such a use cannot do without.
  static absl::StatusOr<std::shared_ptr<const Api>> OfTable(std::string plugin,
                                                            const abi::Api* table, Use use);

  const std::string& plugin() const { return plugin_; }  // path
  const TableFacts& facts() const { return facts_; }
  // Whether all functions are there that programs need.
  bool has_programs() const { return has_programs_; }

  // PJRT_Plugin_Initialize; before all other functions, and once.
  absl::Status Initialize() const;
  // PJRT_Plugin_Attributes; empty for a plug-in without that function.
  absl::StatusOr<std::vector<NameAndText>> Attributes() const;

  template <typename Args>
  bool Has(const Function<Args>& function) const {
    return HasSlot(&(table_->*function.member)) && table_->*function.member != nullptr;
  }

  // Calls a function. UNIMPLEMENTED if the plug-in has none, INTERNAL if it throws; else the
  // plug-in's own code, UNKNOWN for one that absl lacks, and its text as one line, cut at 2,000
  // bytes. The message ends with the names of the function and the plug-in. `node`: for whom the
  // call is made, for messages of the watchdog; may be empty.
  template <typename Args>
  absl::Status Call(const Function<Args>& function, Args& args, std::string_view node = {}) const {
    if (!Has(function)) return Missing(function.name);
    abi::Error* error = nullptr;
    absl::Status status = CallPlugin(plugin_.c_str(), function.name, node,
                                     [&] { error = (table_->*function.member)(&args); });
    if (error == nullptr && status.ok()) return status;
    return status.ok() ? TakeError(error, function.name) : status;
  }
  // The same where nobody can be told: a fault is a warning.
  template <typename Args>
  void Release(const Function<Args>& function, Args& args) const {
    WarnOf(Call(function, args));
  }

  // The status of an error, which it destroys. OK for null.
  absl::Status TakeError(abi::Error* error, const char* function) const;
  // INTERNAL, a fault of the plug-in (IsPluginFault): "what (function of plug-in path)".
  absl::Status Fault(std::string_view what, const char* function) const;
  // The values of an array that `function` gave, each with its name; none for null. A Fault if
  // there are more than 65,536.
  absl::StatusOr<std::vector<NameAndText>> TextsOf(const abi::NamedValue* values, size_t count,
                                                   const char* function) const;

 private:
  explicit Api(std::string plugin) : plugin_(std::move(plugin)) {}
  bool HasSlot(const void* slot) const;
  absl::Status Missing(const char* function) const;
  absl::Status Check(Use use);
  std::vector<const char*> MissingFor(Use use) const;
  void ReadSlots();
  void ReadExtensions();

  const std::string plugin_;
  const abi::Api* table_ = nullptr;
  TableFacts facts_;
  bool has_programs_ = false;
};

// The text of a pointer and a length that a plug-in gave; empty for null, and cut at 64 KiB.
std::string_view TextAt(const char* text, size_t size);

}  // namespace tenon::pjrt
