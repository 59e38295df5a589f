#include "settings.h"

#include <charconv>
#include <cstdlib>

#include "../base/refusal.h"
#include "functions.h"
#include "version.h"

namespace pjref {
namespace {

[[noreturn]] void Refuse(std::string_view name, std::string_view value, const char* wanted) {
  throw Refusal(Code::kInvalidArgument, "option " + std::string(name) + " is \"" +
                                            std::string(value) + "\", but should be " + wanted);
}

int64_t IntegerOf(std::string_view name, std::string_view value) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) Refuse(name, value, "an integer");
  return number;
}

int64_t CountOf(std::string_view name, std::string_view value, int64_t least, int64_t most) {
  const int64_t number = IntegerOf(name, value);
  if (number < least || number > most) Refuse(name, value, "within its limits");
  return number;
}

bool TruthOf(std::string_view name, std::string_view value) {
  if (value == "true" || value == "1") return true;
  if (value == "false" || value == "0") return false;
  Refuse(name, value, "true or false");
}

unsigned EventsOf(std::string_view name, std::string_view value) {
  if (value == "none") return kNoEvents;
  if (value == "transfer") return kTransfers;
  if (value == "execute") return kExecutions;
  if (value == "all") return kAllEvents;
  Refuse(name, value, "none, transfer, execute or all");
}

std::string OneOf(std::string_view name, std::string_view value,
                  std::initializer_list<std::string_view> known) {
  for (std::string_view word : known) {
    if (word == value) return std::string(value);
  }
  Refuse(name, value, "one of the values that README.md names");
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size());
    if (end > 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

// The function of the table with this name, as settings write it.
std::string FunctionOf(std::string_view name, std::string_view function) {
  for (const char* known : functions::kNames) {
    if (function == known) return known;
  }
  Refuse(name, function, "a function of the table without its PJRT_, such as Client_Compile");
}

// "Client_Compile:8@3": the function, a number (an error's code, or milliseconds), and the call
// from which on.
void AddFaults(Settings::Fault::Kind kind, std::string_view name, std::string_view value,
               Settings* settings) {
  for (std::string part : Split(value, ';')) {
    Settings::Fault fault;
    fault.kind = kind;
    const size_t at = part.find('@');
    if (at != std::string::npos) {
      fault.from = CountOf(name, std::string_view(part).substr(at + 1), 1, INT64_MAX);
      part.resize(at);
    }
    const size_t colon = part.find(':');
    if (colon != std::string::npos) {
      const int64_t number = CountOf(name, std::string_view(part).substr(colon + 1), 1, INT32_MAX);
      fault.code = fault.milliseconds = number;
      part.resize(colon);
    }
    settings->faults[FunctionOf(name, part)] = fault;
  }
}

}  // namespace

void Settings::Set(std::string_view name, std::string_view value) {
  if (name == "device_count") {
    device_count = CountOf(name, value, 0, 1024);
  } else if (name == "platform") {
    platform = value;
  } else if (name == "memory_limit") {
    memory_limit = CountOf(name, value, 0, INT64_MAX);
  } else if (name == "delay_us") {
    delay_us = CountOf(name, value, 0, 60'000'000);
  } else if (name == "late_events") {
    late_events = EventsOf(name, value);
  } else if (name == "compile_ms") {
    compile_ms = CountOf(name, value, 0, 600'000);
  } else if (name == "failing_events") {
    failing_events = EventsOf(name, value);
  } else if (name == "unready_events") {
    unready_events = EventsOf(name, value);
  } else if (name == "executions") {
    executions = CountOf(name, value, 0, INT64_MAX);
  } else if (name == "wrong_results") {
    wrong_results = OneOf(name, value, {"", "count", "type", "shape"});
  } else if (name == "wrong_op") {
    wrong_op = value;
  } else if (name == "column_major") {
    column_major = TruthOf(name, value);
  } else if (name == "minor_version") {
    minor_version = IntegerOf(name, value);
  } else if (name == "major_version") {
    major_version = IntegerOf(name, value);
  } else if (name == "struct_size") {
    struct_size = CountOf(name, value, 0, INT64_MAX);
  } else if (name == "version_struct_size") {
    version_struct_size = CountOf(name, value, 0, INT64_MAX);
  } else if (name == "null_functions") {
    for (const std::string& part : Split(value, ';'))
      null_functions.push_back(FunctionOf(name, part));
  } else if (name == "extensions") {
    extensions = OneOf(name, value, {"", "loop", "unknown"});
  } else if (name == "null_api") {
    null_api = TruthOf(name, value);
  } else if (name == "trace") {
    trace = TruthOf(name, value);
  } else if (name == "fail") {
    AddFaults(Fault::kError, name, value, this);
  } else if (name == "throw") {
    AddFaults(Fault::kThrow, name, value, this);
  } else if (name == "hang") {
    AddFaults(Fault::kHang, name, value, this);
  } else {
    throw Refusal(Code::kInvalidArgument,
                  "Unexpected option name passed to PJRT_Client_Create: " + std::string(name));
  }
}

void Settings::Set(const abi::NamedValue& option) {
  const std::string_view name(option.name, option.name_size);
  switch (option.type) {
    case abi::NamedValue::kString:
      return Set(name, std::string_view(option.text, option.value_size));
    case abi::NamedValue::kInt64:
      return Set(name, std::to_string(option.integer));
    case abi::NamedValue::kBool:
      return Set(name, option.truth ? "true" : "false");
    default:
      throw Refusal(Code::kInvalidArgument,
                    "option " + std::string(name) + " has a type that no option takes");
  }
}

void Settings::SetAll(std::string_view text) {
  for (const std::string& part : Split(text, ',')) {
    const size_t equals = part.find('=');
    if (equals == std::string::npos)
      throw Refusal(Code::kInvalidArgument, "option " + part + " has no value");
    Set(std::string_view(part).substr(0, equals), std::string_view(part).substr(equals + 1));
  }
}

const Settings& Settings::OfEnvironment() {
  static const auto* const kSettings = [] {
    auto* settings = new Settings;
    const char* text = std::getenv(kOptionsVariable);
    try {
      if (text) settings->SetAll(text);
    } catch (const Refusal& refusal) {
      settings->problem = std::string(kOptionsVariable) + ": " + refusal.what();
    }
    return settings;
  }();
  return *kSettings;
}

}  // namespace pjref
