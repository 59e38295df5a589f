// The page of --report around its data.
#pragma once

#include <string_view>

#include "graph/base/embedded_file.h"

namespace tenon {

// report_page.html, where a document in JSON is to take the place of this word.
absl::Span<const EmbeddedFile> ReportPage();
inline constexpr std::string_view kReportData = "__DATA__";

}  // namespace tenon
