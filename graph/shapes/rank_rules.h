// Shape rules that say no more than which ranks an op takes and gives, written in the op's row:
//   RankRule<"1n 1+n 0 -> [n] []">
// Left of the arrow stands a word for each input; inputs without a word may have any shape:
//   *      any shape
//   2      rank 2; 2+ at least, 2- at most rank 2
//   1n     a small letter behind a rank names the first dimension: it is the same for all inputs
//          with this letter
//   [2]    a vector of 2 elements, as the handles of old containers are; dimensions as below. A
//          letter stands for the size that words to the left gave the letter, else for any size
//   v      the shape of a variable (for a resource the shape behind its handle); all v's agree
//   r      updates for rows of the variable: the dimensions behind the first are those of v, and
//          the next input is a vector with an index for each row
// Right of the arrow stands a word for each output; outputs without a word are unknown:
//   ?      unknown
//   [n,2]  these dimensions: a number, -1 for unknown, a letter, or #name for an int attribute
//   =1     as input 1 (inputs count from 0), with the rank that the rule asks of the input
//   v      the variable's shape
// Inputs are checked from left to right.
#pragma once

#include <algorithm>
#include <string_view>

#include "absl/status/status.h"
#include "graph/shapes/shape_inference.h"

namespace tenon::ops {

// A string literal as an argument of a template.
template <size_t kSize>
struct RuleText {
  constexpr RuleText(const char (&text)[kSize]) {  // NOLINT: meant to convert
    std::copy_n(text, kSize, chars);
  }
  constexpr std::string_view view() const { return {chars, kSize - 1}; }
  char chars[kSize];
};

// Applies a rule. Thread-safe for different contexts. INVALID_ARGUMENT in TensorFlow's words where
// an input does not fit; INTERNAL for a rule with a word that is none of the above.
absl::Status ApplyRankRule(InferenceContext& c, std::string_view rule);

// The shape function of a rule.
template <RuleText kRule>
absl::Status RankRule(InferenceContext& c) {
  return ApplyRankRule(c, kRule.view());
}

}  // namespace tenon::ops
