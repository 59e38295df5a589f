// What a client is created with, and what programs are compiled with.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "plugin/pjrt/api.h"

namespace tenon::pjrt {

// A client's option. The type must be the one that the plug-in expects.
struct ClientOption {
  std::string name;
  std::variant<std::string, int64_t, std::vector<int64_t>, float, bool> value;
};

// The option for NAME=VALUE of a command line, typed by its spelling: 7 is an integer, 0,1 a list
// of integers, 0.5 a float, true and false are booleans, all else is text.
ClientOption OptionOf(std::string_view name, std::string_view value);

// Options that keep a plug-in from taking more than a host of one program wants, unless `given` has
// them: one device of XLA's CPU, which has four by default, and no memory in advance of GPUs.
// `plugin` is the path of the library; `attributes` are those of Plugin_Attributes.
std::vector<ClientOption> DefaultsFor(std::string_view plugin,
                                      const std::vector<NameAndText>& attributes,
                                      const std::vector<ClientOption>& given);

// The structs of options, as views of `options`, which must outlive the result.
std::vector<abi::NamedValue> ToNamedValues(const std::vector<ClientOption>& options);

// The options that a plug-in's own code hands to the host. INVALID_ARGUMENT for a negative count,
// for NULL values, unless there are none, and for an option with a NULL name, a type that no option
// has, a NULL text or list of a size above 0, or a name or value of a size above 2^20.
absl::StatusOr<std::vector<ClientOption>> OptionsOf(const abi::NamedValue* values, int count);

// The flags of XLA that would give other numbers than TensorFlow's on a platform ("cpu", "cuda"):
// float32 values in more precision than their type has, and, for CPUs, extremes that lose NaN.
absl::Span<const std::string_view> XlaFlagsOff(std::string_view platform);

// A serialized CompileOptionsProto for one replica and one partition on the device with this id. It
// is never empty: XLA aborts at that. `off`: flags of XLA to switch off, which the plug-in must
// know.
std::string CompileOptions(int device_id, absl::Span<const std::string_view> off);

}  // namespace tenon::pjrt
