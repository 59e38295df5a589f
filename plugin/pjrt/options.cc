#include "plugin/pjrt/options.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/wire/wire.h"

namespace tenon::pjrt {
namespace {

// Fields of CompileOptionsProto and of the messages within.
constexpr int kBuildOptions = 3, kOverrides = 7;
constexpr int kNumReplicas = 4, kNumPartitions = 5, kDeviceAssignment = 9;
constexpr int kReplicaCount = 1, kComputationCount = 2, kComputationDevices = 3;
constexpr int kDeviceIds = 1;
constexpr int kMapKey = 1, kMapValue = 2, kOverrideBool = 2;

bool ParseList(std::string_view text, std::vector<int64_t>& list) {
  for (const std::string_view part : absl::StrSplit(text, ',')) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(part, &number)) return false;
    list.push_back(number);
  }
  return list.size() > 1;
}

bool HasName(const std::vector<ClientOption>& options, std::string_view name) {
  return std::any_of(options.begin(), options.end(),
                     [&](const ClientOption& option) { return option.name == name; });
}

}  // namespace

ClientOption OptionOf(std::string_view name, std::string_view value) {
  ClientOption option{std::string(name), std::string(value)};
  int64_t integer = 0;
  float number = 0;
  std::vector<int64_t> list;
  if (value == "true" || value == "false") {
    option.value = value == "true";
  } else if (absl::SimpleAtoi(value, &integer)) {
    option.value = integer;
  } else if (ParseList(value, list)) {
    option.value = std::move(list);
  } else if (!value.empty() && absl::StrContains("+-.0123456789", value[0]) &&
             absl::SimpleAtof(value, &number)) {
    option.value = number;
  }
  return option;
}

std::vector<ClientOption> DefaultsFor(std::string_view plugin,
                                      const std::vector<NameAndText>& attributes,
                                      const std::vector<ClientOption>& given) {
  const std::string_view file = plugin.substr(plugin.rfind('/') + 1);
  const bool cuda = std::any_of(attributes.begin(), attributes.end(),
                                [](const NameAndText& a) { return a.first == "cuda_version"; });
  std::vector<ClientOption> defaults;
  if (cuda || absl::StrContains(file, "cuda") || absl::StrContains(file, "rocm")) {
    if (!HasName(given, "preallocate")) defaults.push_back({"preallocate", false});
  } else if (absl::StrContains(file, "cpu")) {
    if (!HasName(given, "cpu_device_count")) defaults.push_back({"cpu_device_count", int64_t{1}});
  }
  return defaults;
}

std::vector<abi::NamedValue> ToNamedValues(const std::vector<ClientOption>& options) {
  using Type = abi::NamedValue::Type;
  std::vector<abi::NamedValue> values;
  for (const ClientOption& option : options) {
    auto& value = values.emplace_back(Fresh<abi::NamedValue>());
    value.name = option.name.data();
    value.name_size = option.name.size();
    value.value_size = 1;
    if (const auto* text = std::get_if<std::string>(&option.value)) {
      value.type = Type::kString;
      value.text = text->data();
      value.value_size = text->size();
    } else if (const auto* integer = std::get_if<int64_t>(&option.value)) {
      value.type = Type::kInt64;
      value.integer = *integer;
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&option.value)) {
      value.type = Type::kInt64List;
      value.integers = list->data();
      value.value_size = list->size();
    } else if (const auto* number = std::get_if<float>(&option.value)) {
      value.type = Type::kFloat;
      value.number = *number;
    } else {
      value.type = Type::kBool;
      value.truth = std::get<bool>(option.value);
    }
  }
  return values;
}

absl::StatusOr<std::vector<ClientOption>> OptionsOf(const abi::NamedValue* values, int count) {
  using Type = abi::NamedValue::Type;
  constexpr size_t kMostBytes = 1 << 20;
  std::vector<ClientOption> options;
  if (count < 0 || (count > 0 && values == nullptr))
    return absl::InvalidArgumentError(absl::StrCat("a list of ", count, " options"));
  for (int i = 0; i < count; ++i) {
    const abi::NamedValue& value = values[i];
    const bool has_list = value.type == Type::kString || value.type == Type::kInt64List;
    if (value.name == nullptr || value.name_size > kMostBytes || value.value_size > kMostBytes ||
        (has_list && value.value_size > 0 && value.text == nullptr))
      return absl::InvalidArgumentError(absl::StrCat("option ", i, " has no name or no value"));
    ClientOption& option = options.emplace_back();
    option.name = std::string(value.name, value.name_size);
    switch (value.type) {
      case Type::kString:
        option.value = value.value_size == 0 ? "" : std::string(value.text, value.value_size);
        break;
      case Type::kInt64:
        option.value = value.integer;
        break;
      case Type::kInt64List:
        option.value = std::vector<int64_t>(value.integers, value.integers + value.value_size);
        break;
      case Type::kFloat:
        option.value = value.number;
        break;
      case Type::kBool:
        option.value = value.truth;
        break;
      default:
        return absl::InvalidArgumentError(
            absl::StrCat("option ", option.name, " has type ", static_cast<int>(value.type)));
    }
  }
  return options;
}

absl::Span<const std::string_view> XlaFlagsOff(std::string_view platform) {
  static constexpr std::string_view kFlags[] = {"xla_allow_excess_precision",
                                                "xla_cpu_enable_fast_min_max"};
  return absl::MakeConstSpan(kFlags, platform == "cpu" ? 2 : 1);
}

std::string CompileOptions(int device_id, absl::Span<const std::string_view> off) {
  std::string devices, assignment, build, options;
  std::string ids;
  WireWriter(&ids).RawVarint(static_cast<uint64_t>(static_cast<int64_t>(device_id)));
  WireWriter(&devices).Bytes(kDeviceIds, ids);  // packed
  WireWriter assignment_writer(&assignment);
  assignment_writer.Varint(kReplicaCount, 1);
  assignment_writer.Varint(kComputationCount, 1);
  assignment_writer.Bytes(kComputationDevices, devices);
  WireWriter build_writer(&build);
  build_writer.Varint(kNumReplicas, 1);
  build_writer.Varint(kNumPartitions, 1);
  build_writer.Bytes(kDeviceAssignment, assignment);
  WireWriter writer(&options);
  writer.Bytes(kBuildOptions, build);
  for (const std::string_view flag : off) {
    std::string value, entry;
    WireWriter(&value).Varint(kOverrideBool, 0);
    WireWriter entry_writer(&entry);
    entry_writer.Bytes(kMapKey, flag);
    entry_writer.Bytes(kMapValue, value);
    writer.Bytes(kOverrides, entry);
  }
  return options;
}

}  // namespace tenon::pjrt
