// The page of --report, without its data.
#pragma once

#include <string_view>

#include "graph/base/embedded_file.h"

namespace tenon {

// One file, report_page.html. It lives as long as the program. The caller puts the document of
// WriteHtmlReport (html_report.cc), whose keys the script of the page reads, in place of the text
// kReportData, which the file has once, within a script element. The document must have no '<',
// which could end the script: as JSON, "\u003c" stands for it.
absl::Span<const EmbeddedFile> ReportPage();
inline constexpr std::string_view kReportData = "__DATA__";

}  // namespace tenon
