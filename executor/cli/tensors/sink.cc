#include "executor/cli/tensors/sink.h"

#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/tensors/array_file.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {

absl::StatusOr<NamedSink> ParseSink(std::string_view text) {
  const size_t equals = text.find('=');
  NamedSink named;
  named.name = std::string(text.substr(0, equals));
  if (named.name.empty()) return UsageError(absl::StrCat("--output '", text, "' names no tensor"));
  if (equals == std::string_view::npos) return named;
  named.sink = std::string(text.substr(equals + 1));
  const bool file = named.sink.size() > 1 && named.sink[0] == '@';
  const bool known = absl::EndsWith(named.sink, ".npy") || absl::EndsWith(named.sink, ".npz") ||
                     absl::EndsWith(named.sink, ".bin");
  if (named.sink == "-" || (file && known)) return named;
  return UsageError(absl::StrCat("--output ", named.name, "='", named.sink,
                                 "' is no SINK; write -, @y.npy, @all.npz or @y.bin"));
}

absl::Status WriteSinks(const std::vector<SinkTensor>& tensors) {
  // An archive is written once, when all of its arrays are known.
  std::map<std::string, std::vector<std::pair<std::string, Tensor>>> archives;
  for (const SinkTensor& t : tensors) {
    if (t.target.sink == "-") continue;
    if (!t.value.initialized())
      return UsageError(
          absl::StrCat("--output ", t.target.name, ": the node has no output to write"));
    const std::string path = t.target.sink.substr(1);
    if (absl::EndsWith(path, ".npz")) {
      archives[path].emplace_back(t.target.name, t.value);
    } else if (absl::EndsWith(path, ".npy")) {
      TENON_RETURN_IF_ERROR(SaveArray(path, t.value));
    } else {
      TENON_RETURN_IF_ERROR(SaveRaw(path, t.value));
    }
  }
  for (const auto& [path, arrays] : archives) TENON_RETURN_IF_ERROR(SaveArchive(path, arrays));
  return absl::OkStatus();
}

}  // namespace tenon::cli
