// Tables filled from text files: one entry a line, keys and values from its columns. And
// GenerateVocabRemapping, which compares two such files.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "graph/base/file_bytes.h"
#include "graph/base/within_memory.h"
#include "plugin/cpu/base/kernel_util.h"
#include "plugin/cpu/containers/table.h"
#include "plugin/cpu/files/file_facts.h"
#include "plugin/kernels/kernel.h"
#include "plugin/kernels/kernel_spec.h"

namespace tenon::cpu {
namespace {

// Columns count from 0.
constexpr int64_t kWholeLine = -2, kLineNumber = -1;

struct VocabularyState : FileFacts {
  explicit VocabularyState(const Prepare& p) : FileFacts(p) {}
  int64_t key = 0, value = 0;  // a column, kWholeLine or kLineNumber
  int64_t size = -1;           // lines to read; -1: all
  int64_t first_number = 0;    // of the first line
  std::string delimiter;

  int64_t columns() const { return std::max(key, value) + 1; }
};

// Lines without what ends them, "\n" or "\r\n".
absl::StatusOr<std::vector<std::string_view>> Lines(std::string_view text, int64_t wanted) {
  std::vector<std::string_view> lines;
  while (!text.empty() && static_cast<int64_t>(lines.size()) != wanted) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty())
      return absl::InvalidArgumentError(absl::StrCat("line ", lines.size() + 1, " is empty"));
    lines.push_back(line);
  }
  if (lines.empty()) return absl::OutOfRangeError("there is no line to read");
  if (wanted >= 0 && static_cast<int64_t>(lines.size()) < wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("the file has ", lines.size(), " lines, vocab_size is ", wanted));
  }
  return lines;
}

// Puts the text into element i; false if it is no such value.
bool Store(std::string_view text, const Tensor& to, int64_t i) {
  switch (to.dtype()) {
    case DataType::kInt32:
      return absl::SimpleAtoi(text, to.flat<int32_t>() + i);
    case DataType::kInt64:
      return absl::SimpleAtoi(text, to.flat<int64_t>() + i);
    case DataType::kFloat:
      return absl::SimpleAtof(text, to.flat<float>() + i);
    case DataType::kDouble:
      return absl::SimpleAtod(text, to.flat<double>() + i);
    default:
      to.SetString(i, text);
      return true;
  }
}

absl::Status CheckColumn(std::string_view what, int64_t column, DataType type) {
  constexpr uint64_t kStored = TypeBits(DataType::kInt32, DataType::kInt64, DataType::kFloat,
                                        DataType::kDouble, DataType::kString);
  constexpr uint64_t kWhole = TypeBits(DataType::kInt32, DataType::kInt64, DataType::kString);
  const uint64_t allowed = column == kLineNumber  ? TypeBit(DataType::kInt64)
                           : column == kWholeLine ? kWhole
                                                  : kStored;
  if (HasType(allowed, type)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("the table's ", what, "s are ", DataTypeName(type), ", which ",
                   column == kLineNumber  ? "cannot be line numbers; they are DT_INT64"
                   : column == kWholeLine ? "cannot be whole lines; those are DT_STRING or integers"
                                          : "cannot be read from a text file"));
}

absl::StatusOr<Table::Entries> Entries(const VocabularyState& s, const Table::Options& table,
                                       const std::vector<std::string_view>& lines) {
  const Shape shape({static_cast<int64_t>(lines.size())});
  Table::Entries entries;
  TENON_ASSIGN_OR_RETURN(entries.keys, Tensor::Allocate(table.key_type, shape));
  TENON_ASSIGN_OR_RETURN(entries.values, Tensor::Allocate(table.value_type, shape));
  std::vector<std::string_view> columns;
  for (int64_t i = 0; i < shape.dim(0); ++i) {
    if (s.columns() > 0) columns = absl::StrSplit(lines[i], s.delimiter);
    if (static_cast<int64_t>(columns.size()) < s.columns()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "line ", i + 1, " has ", columns.size(), " columns where ", s.columns(), " are wanted"));
    }
    const auto store = [&](int64_t column, const Tensor& to) -> absl::Status {
      if (column == kLineNumber) {
        to.flat<int64_t>()[i] =
            static_cast<int64_t>(static_cast<uint64_t>(s.first_number) + static_cast<uint64_t>(i));
        return absl::OkStatus();
      }
      const std::string_view text = column == kWholeLine ? lines[i] : columns[column];
      if (Store(text, to, i)) return absl::OkStatus();
      return absl::InvalidArgumentError(absl::StrCat("line ", i + 1, ": '", text.substr(0, 100),
                                                     "' is no ", DataTypeName(to.dtype())));
    };
    TENON_RETURN_IF_ERROR(store(s.key, entries.keys));
    TENON_RETURN_IF_ERROR(store(s.value, entries.values));
  }
  return entries;
}

absl::Status Fill(const VocabularyState& s, Table& table, std::string_view text) {
  TENON_ASSIGN_OR_RETURN(const std::vector<std::string_view> lines, Lines(text, s.size));
  TENON_ASSIGN_OR_RETURN(const Table::Entries entries, Entries(s, table.options(), lines));
  return table.Initialize(entries.keys, entries.values);
}

absl::Status RunVocabulary(const void* state, const StepArgs& args) {
  const auto& s = *static_cast<const VocabularyState*>(state);
  TENON_ASSIGN_OR_RETURN(Table * table, InputAs<Table>(args, 0));
  TENON_ASSIGN_OR_RETURN(const std::string name, TextInput(args, 1, "name of the file"));
  const Table::Options& options = table->options();
  if (options.is_mutable) {
    return absl::InvalidArgumentError(
        absl::StrCat("table '", table->name(), "' is not one that is filled once"));
  }
  TENON_RETURN_IF_ERROR(CheckColumn("key", s.key, options.key_type));
  TENON_RETURN_IF_ERROR(CheckColumn("value", s.value, options.value_type));
  return WithinMemory([&]() -> absl::Status {
    TENON_ASSIGN_OR_RETURN(const std::string path, s.files.ForReading(name));
    TENON_ASSIGN_OR_RETURN(const FileBytes file, ReadFile(path, SIZE_MAX));
    // Asked after the file is read: a file that is missing is an error in every run.
    if (table->filled()) return absl::OkStatus();
    return WithPath(path, Fill(s, *table, file.bytes));
  });
}

absl::Status PrepareVocabulary(Prepare& p) {
  auto s = std::make_shared<VocabularyState>(p);
  TENON_ASSIGN_OR_RETURN(s->key, p.AttrInt("key_index"));
  TENON_ASSIGN_OR_RETURN(s->value, p.AttrInt("value_index"));
  TENON_ASSIGN_OR_RETURN(s->size, p.AttrInt("vocab_size"));
  TENON_ASSIGN_OR_RETURN(s->first_number, p.AttrInt("offset"));
  TENON_ASSIGN_OR_RETURN(s->delimiter, p.AttrString("delimiter"));
  if (s->delimiter.size() != 1) return p.Invalid("'delimiter' must be one character");
  if (std::max(s->key, s->value) >= INT32_MAX)
    return p.Invalid("'key_index' and 'value_index' must be below the greatest int32");
  p.set_run(&RunVocabulary, std::move(s));
  return absl::OkStatus();
}

struct RemapState : FileFacts {
  explicit RemapState(const Prepare& p) : FileFacts(p) {}
  int64_t first = 0, count = 0;  // of the new vocabulary's lines
  int64_t old_size = -1;         // lines of the old one; -1: all
};

// Calls f(lines) with the file's lines, of which `wanted` are read; -1: all.
absl::Status WithLines(const RemapState& s, const StepArgs& args, int input, int64_t wanted,
                       absl::FunctionRef<absl::Status(absl::Span<const std::string_view>)> f) {
  TENON_ASSIGN_OR_RETURN(const std::string name, TextInput(args, input, "name of the file"));
  TENON_ASSIGN_OR_RETURN(const std::string path, s.files.ForReading(name));
  TENON_ASSIGN_OR_RETURN(const FileBytes file, ReadFile(path, SIZE_MAX));
  const auto lines = Lines(file.bytes, wanted);
  return WithPath(path, lines.ok() ? f(*lines) : lines.status());
}

// For each line of the new vocabulary its number in the old one, or -1.
absl::Status Remap(const RemapState& s, const StepArgs& args) {
  TENON_ASSIGN_OR_RETURN(void* remapping, args.run_state->AllocateOutput(0, Shape({s.count})));
  absl::flat_hash_map<std::string, int64_t> old_lines;
  TENON_RETURN_IF_ERROR(
      WithLines(s, args, 1, s.old_size, [&](absl::Span<const std::string_view> lines) {
        for (const std::string_view line : lines) {
          if (old_lines.try_emplace(line, old_lines.size()).second) continue;
          return absl::FailedPreconditionError(
              absl::StrCat("'", line.substr(0, 100), "' is there twice"));
        }
        return absl::OkStatus();
      }));
  return WithLines(s, args, 0, -1, [&](absl::Span<const std::string_view> lines) {
    const auto size = static_cast<int64_t>(lines.size());
    if (s.first > size || s.count > size - s.first) {
      return absl::InvalidArgumentError(absl::StrCat("lines ", s.first, " to ", s.first, " + ",
                                                     s.count, " are wanted, there are ", size));
    }
    int32_t present = 0;
    for (int64_t i = 0; i < s.count; ++i) {
      const auto found = old_lines.find(lines[s.first + i]);
      present += found == old_lines.end() ? 0 : 1;
      static_cast<int64_t*>(remapping)[i] = found == old_lines.end() ? -1 : found->second;
    }
    TENON_ASSIGN_OR_RETURN(void* count, args.run_state->AllocateOutput(1, Shape()));
    *static_cast<int32_t*>(count) = present;
    return absl::OkStatus();
  });
}

absl::Status RunRemap(const void* state, const StepArgs& args) {
  return WithinMemory([&] { return Remap(*static_cast<const RemapState*>(state), args); });
}

absl::Status PrepareRemap(Prepare& p) {
  auto s = std::make_shared<RemapState>(p);
  TENON_ASSIGN_OR_RETURN(s->first, p.AttrInt("new_vocab_offset"));
  TENON_ASSIGN_OR_RETURN(s->count, p.AttrInt("num_new_vocab"));
  TENON_ASSIGN_OR_RETURN(s->old_size, p.AttrInt("old_vocab_size"));
  TENON_RETURN_IF_ERROR(CheckedShape(p, {s->count}).status());
  for (int i = 0; i < p.num_outputs(); ++i) p.set_dynamic_output(i);
  p.set_run(&RunRemap, std::move(s));
  return absl::OkStatus();
}

}  // namespace

absl::Span<const CpuKernelSpec> VocabularyKernels() {
  static const CpuKernelSpec specs[] = {
      WholeTensorKernel("InitializeTableFromTextFile", PrepareVocabulary),
      WholeTensorKernel("InitializeTableFromTextFileV2", PrepareVocabulary),
      WholeTensorKernel("GenerateVocabRemapping", PrepareRemap),
  };
  return specs;
}

}  // namespace tenon::cpu
