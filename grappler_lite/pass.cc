#include "grappler_lite/pass.h"

#include "absl/strings/str_cat.h"

namespace tenon {

bool PassContext::Allow(std::string_view rewrite) {
  if (rewrites_left <= 0) return false;
  if (!disabled_rewrites.empty() &&
      disabled_rewrites.contains(absl::StrCat(pass_name, ".", rewrite)))
    return false;
  --rewrites_left;
  ++rewrite_counts[std::string(rewrite)];
  return true;
}

}  // namespace tenon
