// Puts the lines of a file in the place of --flagfile, and so for files that such a file names.

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "executor/cli/faults/exit_code.h"
#include "executor/cli/options/flags.h"
#include "graph/base/file_bytes.h"
#include "graph/base/status_macros.h"

namespace tenon::cli {
namespace {

constexpr int kMaxFlagFileDepth = 10;  // of files that name files
constexpr size_t kMaxFlagFileBytes = 1 << 20;
constexpr std::string_view kFlag = "--flagfile";

absl::Status Expand(const std::vector<std::string>& args, int depth, std::vector<std::string>& out);

// Read by hand: CLI11's files of flags are TOML.
absl::Status ExpandFile(const std::string& path, int depth, std::vector<std::string>& out) {
  if (depth >= kMaxFlagFileDepth)
    return UsageError(absl::StrCat("--flagfile ", path, ": files name files more than ",
                                   kMaxFlagFileDepth, " deep"));
  const absl::StatusOr<FileBytes> file = ReadFile(path, kMaxFlagFileBytes);
  if (!file.ok()) return UsageError(absl::StrCat("--flagfile ", file.status().message()));
  std::vector<std::string> lines;
  for (const std::string_view line : absl::StrSplit(file->bytes, '\n')) {
    const std::string_view text = absl::StripAsciiWhitespace(line);
    if (text.empty() || text[0] == '#') continue;
    // "--flag value" is split at the first blank, so that values may hold blanks.
    const size_t blank = text.find_first_of(" \t");
    if (text[0] == '-' && blank != std::string_view::npos &&
        text.substr(0, blank).find('=') == std::string_view::npos) {
      lines.emplace_back(text.substr(0, blank));
      lines.emplace_back(absl::StripLeadingAsciiWhitespace(text.substr(blank)));
    } else {
      lines.emplace_back(text);
    }
  }
  return Expand(lines, depth + 1, out);
}

absl::Status Expand(const std::vector<std::string>& args, int depth,
                    std::vector<std::string>& out) {
  for (size_t i = 0; i < args.size(); ++i) {
    if (args[i] == kFlag) {
      if (i + 1 == args.size()) return UsageError("--flagfile needs a file name");
      TENON_RETURN_IF_ERROR(ExpandFile(args[++i], depth, out));
    } else if (absl::StartsWith(args[i], "--flagfile=")) {
      TENON_RETURN_IF_ERROR(ExpandFile(args[i].substr(kFlag.size() + 1), depth, out));
    } else {
      out.push_back(args[i]);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandFlagFiles(const std::vector<std::string>& args) {
  std::vector<std::string> out;
  TENON_RETURN_IF_ERROR(Expand(args, 0, out));
  return out;
}

}  // namespace tenon::cli
