#include "executor/cli/passes/report_page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace tenon {
namespace {

// The name of a file, in the markup where its content belongs: "__report.css__".
std::string MarkOf(std::string_view path) { return absl::StrCat("__", path, "__"); }

}  // namespace

std::string PageWith(std::string_view data) {
  std::string_view markup;
  std::vector<std::pair<std::string, std::string_view>> parts;
  for (const absl::Span<const EmbeddedFile> files : {ReportPage(), ReportLayout()}) {
    for (const EmbeddedFile& file : files) {
      if (file.path.ends_with(".html")) {
        markup = file.content;
      } else {
        parts.emplace_back(MarkOf(file.path), file.content);
      }
    }
  }
  const std::string escaped = absl::StrReplaceAll(data, {{"<", "\\u003c"}});
  parts.emplace_back("__DATA__", escaped);
  // One sweep: a mark within the data stays as it is.
  return absl::StrReplaceAll(markup, parts);
}

}  // namespace tenon
