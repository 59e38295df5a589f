#include "graph/op_defs/arg_ranges.h"

#include "graph/base/status_macros.h"

namespace tenon {

absl::StatusOr<ArgRanges> ArgRanges::Of(const OpDef& op, const AttrSet& attrs,
                                        const std::vector<ArgDef>& args) {
  ArgRanges ranges;
  int64_t begin = 0;
  for (const ArgDef& arg : args) {
    TENON_ASSIGN_OR_RETURN(const int64_t n, ArgLength(op, attrs, arg));
    ranges.by_name_.try_emplace(arg.name, static_cast<int>(begin), static_cast<int>(begin + n));
    begin += n;
  }
  return ranges;
}

}  // namespace tenon
