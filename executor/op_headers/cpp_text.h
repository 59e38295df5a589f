// Pieces of C++ source: names, values, filled lines.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "graph/op_defs/op_def.h"

namespace tenon::op_headers {

// Gives the names of an op's arguments and attributes C++ names that do not meet: those of
// keywords, macros and names that are taken get an underscore behind.
class Names {
 public:
  Names() = default;
  explicit Names(std::set<std::string, std::less<>> taken) : taken_(std::move(taken)) {}
  // Returns the C++ name for `name`, and takes it.
  std::string Take(std::string_view name);

 private:
  std::set<std::string, std::less<>> taken_;
};

// Returns a type of the C++ library as code in namespace tenon::ops writes it: "Tensor", but
// "tenon::Shape", since an op is named Shape.
std::string TypeName(std::string_view type);
// Returns the C++ type of an attribute: "int64_t", "std::vector<DType>".
std::string AttrTypeName(const AttrDef& attr);

// Returns `text` as a C++ string literal with its quotes.
std::string StringLiteral(std::string_view text);
// Returns the default of an attribute that has one as the initializer of a variable of its type,
// such as "{1, 1}". An attribute of tensors or functions gets one that is not set, which stands for
// the default. UNIMPLEMENTED for a value that has no such text, as NaN.
absl::StatusOr<std::string> DefaultText(const AttrDef& attr);
// Returns a condition which is true if `value`, an expression, is not the attribute's default.
// Errors are those of DefaultText.
absl::StatusOr<std::string> DiffersText(const AttrDef& attr, const std::string& value);

// Returns begin + items, parted by ", ", + end, broken into lines of at most 100 columns, unless
// one item takes more. Further lines stand below the first item where each item fits there; else
// all items stand on lines that are indented by 4 columns more than `begin`.
std::string Fill(std::string_view begin, const std::vector<std::string>& items,
                 std::string_view end);
// Returns "// text" as lines of at most 100 columns, unless one word takes more, with `indent`
// columns in front. Each line ends in a line break. Further lines have their text `hanging` columns
// further right.
std::string Comment(int indent, std::string_view text, int hanging = 0);

}  // namespace tenon::op_headers
