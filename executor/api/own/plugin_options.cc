// TENON_LoadPlugin.
#include <stdlib.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/api/base/arguments.h"
#include "graph/c_api/c_api_internal.h"
#include "graph/c_api/without_memory.h"
#include "plugin/host/loading/loader.h"
#include "tenon/tenon_c.h"

namespace tenon::api {
namespace {

constexpr std::string_view kClientOption = "option.";  // before the name of a PJRT client's option

// PATH;priority=N;as=TYPE;type=TYPE;option.NAME=VALUE;KEY=VALUE...: other keys are variables of the
// environment, in which the plug-in looks for its options.
absl::Status LoadByText(std::string_view text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ';');
  PluginOptions options;
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::pair<std::string, std::string> option =
        absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    if (option.first.empty() || parts[i].find('=') == std::string::npos)
      return absl::InvalidArgumentError(absl::StrCat("'", parts[i], "' is no KEY=VALUE"));
    if (option.first == "as" || option.first == "type") {
      options.device_type = option.second;
    } else if (absl::StartsWith(option.first, kClientOption)) {
      options.client_options.push_back(
          pjrt::OptionOf(option.first.substr(kClientOption.size()), option.second));
    } else if (option.first != "priority") {
      setenv(option.first.c_str(), option.second.c_str(), 1);
    } else if (!absl::SimpleAtoi(option.second, &options.priority)) {
      return absl::InvalidArgumentError(
          absl::StrCat("priority '", option.second, "' is no whole number"));
    }
  }
  return LoadPlugin(parts[0], options).status();
}

}  // namespace
}  // namespace tenon::api

extern "C" {

void TENON_LoadPlugin(const char* path_and_options, TF_Status* status) try {
  if (!tenon::api::AllGiven({{"path_and_options", path_and_options}}, status)) return;
  tenon::StatusToC(tenon::api::LoadByText(path_and_options), status);
} catch (...) {
  tenon::WithoutMemory(status);
}

}  // extern "C"
