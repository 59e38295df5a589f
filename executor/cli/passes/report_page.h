// The page of --report, without its data.
#pragma once

#include <string_view>

#include "graph/base/embedded_file.h"

namespace tenon {

// The file report_page.html, embedded in the program. A JSON document takes the place of the word
// kReportData.
absl::Span<const EmbeddedFile> ReportPage();
inline constexpr std::string_view kReportData = "__DATA__";

}  // namespace tenon
