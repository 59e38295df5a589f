// DecodeCSV: records of comma-separated values, as a tensor for each column.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "graph/base/annotate.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/base/string_element.h"
#include "plugin/cpu/elementwise/loops/element_copy.h"
#include "plugin/cpu/strings/number_text.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

struct Csv {
  char delimiter;
  bool quotes;
  std::string missing;           // text that stands for no value, as the empty one does
  std::vector<int64_t> columns;  // wanted, ascending; empty: all
  std::vector<DataType> types;
  std::vector<bool> has_default;
  int64_t records;
};

// One record's fields, one after the other.
class FieldReader {
 public:
  FieldReader(const Csv& csv, std::string_view record) : csv_(csv), record_(record) {}

  // False when there are no more. INVALID_ARGUMENT for quotes in wrong places.
  absl::StatusOr<bool> Next(std::string* field) {
    while (at_ < record_.size() && IsLineBreak(record_[at_])) ++at_;
    field->clear();
    if (at_ >= record_.size()) {
      // Behind a last delimiter there is one more field, an empty one.
      const bool one_more = !ended_ && !record_.empty() && record_.back() == csv_.delimiter;
      ended_ = true;
      return one_more;
    }
    if (csv_.quotes && record_[at_] == '"') {
      TENON_RETURN_IF_ERROR(ReadQuoted(field));
    } else {
      TENON_RETURN_IF_ERROR(ReadPlain(field));
    }
    return true;
  }

 private:
  static bool IsLineBreak(char c) { return c == '\n' || c == '\r'; }

  absl::Status ReadPlain(std::string* field) {
    const size_t begin = at_;
    for (; at_ < record_.size() && record_[at_] != csv_.delimiter; ++at_) {
      if (IsLineBreak(record_[at_]) || (csv_.quotes && record_[at_] == '"'))
        return absl::InvalidArgumentError("a quote or line break in a field without quotes");
    }
    *field = record_.substr(begin, at_ - begin);
    ++at_;
    return absl::OkStatus();
  }

  // Ends with a quote before a delimiter or the end; two quotes are one.
  absl::Status ReadQuoted(std::string* field) {
    for (++at_; at_ < record_.size(); ++at_) {
      if (record_[at_] != '"') {
        *field += record_[at_];
        continue;
      }
      ++at_;
      if (at_ >= record_.size() || record_[at_] == csv_.delimiter) {
        ++at_;
        return absl::OkStatus();
      }
      if (record_[at_] != '"')
        return absl::InvalidArgumentError("a quote inside of a field must be there twice");
      *field += '"';
    }
    return absl::InvalidArgumentError("a field in quotes does not end");
  }

  const Csv& csv_;
  std::string_view record_;
  size_t at_ = 0;
  bool ended_ = false;
};

absl::Status StoreField(const Csv& s, const StepArgs& args, std::string_view field, size_t column,
                        int64_t record) {
  void* const out = args.out[column];
  const DataType type = s.types[column];
  if (field.empty() || field == s.missing) {
    if (!s.has_default[column])
      return absl::InvalidArgumentError(absl::StrCat("field ", column, " has no value"));
    ElementCopy copy(type);
    copy(args.in[1 + column], 0, out, record);
    return absl::OkStatus();
  }
  if (type == DataType::kString) {
    PutString(out, record, field);
    return absl::OkStatus();
  }
  if (ParseNumber(field, type, out, record)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("field ", column, " is no ", DataTypeName(type), ": '", field, "'"));
}

absl::Status ReadRecord(const Csv& s, const StepArgs& args, int64_t record) {
  FieldReader reader(s, StringAt(args.in[0], record));
  std::string field;
  size_t column = 0;
  for (int64_t number = 0; s.columns.empty() || column < s.columns.size(); ++number) {
    TENON_ASSIGN_OR_RETURN(const bool there, reader.Next(&field));
    if (!there) break;
    if (!s.columns.empty() && s.columns[column] != number) continue;
    if (column == s.types.size())
      return absl::InvalidArgumentError(absl::StrCat("there are more than ", column, " fields"));
    TENON_RETURN_IF_ERROR(StoreField(s, args, field, column, record));
    ++column;
  }
  if (column == s.types.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("there are ", column, " of ", s.types.size(), " fields"));
}

absl::Status RunCsv(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const Csv*>(state);
  for (int64_t i = 0; i < s.records; ++i) {
    const absl::Status read = ReadRecord(s, args, i);
    if (!read.ok()) return Annotate(read, absl::StrCat("record ", i, ": "));
  }
  return absl::OkStatus();
}

absl::Status PrepareCsv(Prepare& p) {
  auto s = std::make_shared<Csv>();
  TENON_ASSIGN_OR_RETURN(const std::string_view delimiter, p.AttrString("field_delim"));
  TENON_ASSIGN_OR_RETURN(s->quotes, p.AttrBool("use_quote_delim"));
  TENON_ASSIGN_OR_RETURN(s->missing, p.AttrString("na_value"));
  TENON_ASSIGN_OR_RETURN(s->columns, p.AttrIntList("select_cols"));
  if (delimiter.size() != 1) return p.Invalid("attribute 'field_delim' must be one character");
  s->delimiter = delimiter[0];
  if (!s->columns.empty() && static_cast<int>(s->columns.size()) != p.num_outputs())
    return p.Invalid("attribute 'select_cols' must name as many columns as there are defaults");
  for (size_t i = 0; i < s->columns.size(); ++i) {
    if (s->columns[i] <= (i == 0 ? -1 : s->columns[i - 1]))
      return p.Invalid("attribute 'select_cols' must ascend from 0 or more");
  }
  for (int i = 0; i < p.num_outputs(); ++i) {
    const Shape& value = p.input_shape(1 + i);
    if (value.rank() > 1 || value.num_elements() > 1)
      return p.Invalid(absl::StrCat("the default of column ", i, " must have at most one value"));
    s->types.push_back(p.output_type(i));
    s->has_default.push_back(value.num_elements() == 1);
    p.set_output_shape(i, p.input_shape(0));
  }
  s->records = p.input_shape(0).num_elements();
  p.set_run(&RunCsv, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> CsvKernels() {
  static const CpuKernelSpec specs[] = {{"DecodeCSV", {}, PrepareCsv}};
  return specs;
}

}  // namespace tenon::cpu
