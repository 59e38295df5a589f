// The page of --report around its data.
#pragma once

#include <string_view>

namespace tenon::cli {

// A document in JSON stands between them.
std::string_view HtmlPageBegin();
std::string_view HtmlPageEnd();

}  // namespace tenon::cli
