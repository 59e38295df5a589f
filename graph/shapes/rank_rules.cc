// Reads rules word by word.
#include "graph/shapes/rank_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/shapes/common_shapes.h"

namespace tenon::ops {
namespace {

bool IsLetter(char ch) { return ch >= 'a' && ch <= 'z'; }
bool IsDigit(char ch) { return ch >= '0' && ch <= '9'; }

absl::Status BadWord(std::string_view word) {
  return absl::InternalError(absl::StrCat("A shape rule cannot have the word '", word, "'"));
}

// The next word, which is taken from the front; empty at the end.
std::string_view TakeWord(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

class Rule {
 public:
  explicit Rule(InferenceContext& c) : c_(c) { sizes_.fill(kUnknownDim); }

  absl::Status Input(int i, std::string_view word) {
    if (word == "*") return absl::OkStatus();
    if (word == "v") return AddVariable(i);
    if (word == "r") return AddRows(c_.input(i), c_.input(i + 1));
    if (word[0] == '[') return Bracketed(i, word);
    PartialShape shape;
    const std::string_view whole = word;
    if (!IsDigit(word[0])) return BadWord(word);
    TENON_ASSIGN_OR_RETURN(shape, OfRank(i, word));
    if (!c_.input(i).known_rank() && shape.known_rank()) of_rank_.emplace_back(i, shape);
    if (word.empty()) return absl::OkStatus();
    if (word.size() != 1 || !IsLetter(word[0])) return BadWord(whole);
    int64_t& size = sizes_[word[0] - 'a'];
    if (!shape.known_rank() || shape.rank() == 0) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(size, c_.MergeDim(size, shape.dim(0)));
    return absl::OkStatus();
  }

  absl::Status Output(int i, std::string_view word) {
    if (word == "?") return absl::OkStatus();
    if (word == "v") {
      c_.set_output(i, variable_);
      return absl::OkStatus();
    }
    int number = 0;
    if (word[0] == '=' && absl::SimpleAtoi(word.substr(1), &number)) {
      const auto asked = std::find_if(of_rank_.begin(), of_rank_.end(),
                                      [&](const auto& known) { return known.first == number; });
      c_.set_output(i, asked == of_rank_.end() ? c_.input(number) : asked->second);
      return absl::OkStatus();
    }
    TENON_ASSIGN_OR_RETURN(const Dims dims, DimsOf(word));
    c_.set_output(i, PartialShape(dims));
    return absl::OkStatus();
  }

 private:
  // The dimensions in brackets.
  absl::StatusOr<Dims> DimsOf(std::string_view word) const {
    if (word.size() < 2 || word.front() != '[' || word.back() != ']') return BadWord(word);
    Dims dims;
    for (std::string_view dim :
         absl::StrSplit(word.substr(1, word.size() - 2), ',', absl::SkipEmpty())) {
      int64_t size = 0;
      if (dim[0] == '#') {
        TENON_ASSIGN_OR_RETURN(size, c_.AttrInt(dim.substr(1)));
      } else if (dim.size() == 1 && IsLetter(dim[0])) {
        size = sizes_[dim[0] - 'a'];
      } else if (!absl::SimpleAtoi(dim, &size)) {
        return BadWord(word);
      }
      dims.push_back(std::max(size, kUnknownDim));
    }
    return dims;
  }

  // Input i has these dimensions.
  absl::Status Bracketed(int i, std::string_view word) {
    TENON_ASSIGN_OR_RETURN(const Dims dims, DimsOf(word));
    TENON_ASSIGN_OR_RETURN(const PartialShape shape,
                           c_.WithRank(c_.input(i), static_cast<int>(dims.size())));
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] == kUnknownDim) continue;
      TENON_RETURN_IF_ERROR(c_.WithSize(shape.dim(static_cast<int>(d)), dims[d]).status());
    }
    return absl::OkStatus();
  }

  absl::Status AddVariable(int i) {
    const bool is_handle = c_.input_type(i) == DataType::kResource;
    const auto& handle_shape = c_.input_info(i).handle_shape;
    if (is_handle && handle_shape == nullptr) return absl::OkStatus();
    TENON_ASSIGN_OR_RETURN(variable_,
                           MergeShapes(variable_, is_handle ? *handle_shape : c_.input(i)));
    return absl::OkStatus();
  }

  absl::Status AddRows(const PartialShape& rows, const PartialShape& indices) {
    TENON_ASSIGN_OR_RETURN(const PartialShape vector, c_.WithRank(indices, 1));
    if (!rows.known_rank()) return absl::OkStatus();
    if (rows.rank() == 0)
      return Invalid("Argument grad must not be a scalar. Got grad with rank 0");
    TENON_RETURN_IF_ERROR(c_.MergeDim(vector.dim(0), rows.dim(0)).status());
    TENON_ASSIGN_OR_RETURN(variable_, MergeShapes(variable_, ReplaceDim(rows, 0, kUnknownDim)));
    return absl::OkStatus();
  }

  // The shape of input i, of the rank at the front of `word`, which is taken away.
  absl::StatusOr<PartialShape> OfRank(int i, std::string_view& word) {
    const int rank = word[0] - '0';
    word.remove_prefix(1);
    const char sign = word.empty() ? ' ' : word[0];
    if (sign == '+' || sign == '-') word.remove_prefix(1);
    if (sign == '+') return c_.WithRankAtLeast(c_.input(i), rank);
    if (sign == '-') return c_.WithRankAtMost(c_.input(i), rank);
    return c_.WithRank(c_.input(i), rank);
  }

  InferenceContext& c_;
  PartialShape variable_;
  // Inputs of unknown rank, with the rank that the rule asks for.
  absl::InlinedVector<std::pair<int, PartialShape>, 2> of_rank_;
  std::array<int64_t, 26> sizes_;  // by letter
};

}  // namespace

absl::Status ApplyRankRule(InferenceContext& c, std::string_view text) {
  Rule rule(c);
  std::string_view word = TakeWord(text);
  for (int i = 0; word != "->"; ++i) {
    if (word.empty()) return BadWord(word);
    TENON_RETURN_IF_ERROR(rule.Input(i, word));
    word = TakeWord(text);
  }
  int i = 0;
  for (word = TakeWord(text); !word.empty(); word = TakeWord(text))
    TENON_RETURN_IF_ERROR(rule.Output(i++, word));
  return absl::OkStatus();
}

}  // namespace tenon::ops
