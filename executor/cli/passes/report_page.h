// The page of --report, without its data.
#pragma once

#include <string>
#include <string_view>

#include "graph/base/embedded_file.h"

namespace tenon {

// The files of the page: report_page.html first, then those that it takes in. They live as long as
// the program.
absl::Span<const EmbeddedFile> ReportPage();
// dagre.js, which lays the graph out, and its licence.
absl::Span<const EmbeddedFile> ReportLayout();

// Returns the page as one file. `data` is a JSON document, whose keys the scripts of the page read
// (html_report.cc). It may hold any text: '<', which could end the script that holds the document,
// is written as an escape.
std::string PageWith(std::string_view data);

}  // namespace tenon
