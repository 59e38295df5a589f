#include "executor/stablehlo/carried.h"

#include <iterator>

#include "graph/base/status_macros.h"

namespace tenon::stablehlo {

Entries InputsFrom(Op& op, int first) {
  Entries entries;
  for (int i = first; i < op.num_inputs(); ++i) entries.push_back(op.InEntry(i));
  return entries;
}

absl::Status SetOutputs(Op& op, Entries results) {
  if (static_cast<int>(results.size()) != op.num_outputs())
    return op.Invalid("a function gives another number of results");
  for (int i = 0; i < op.num_outputs(); ++i) op.OutEntry(i) = std::move(results[i]);
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> FunctionOf(Op& op, std::string_view attr) {
  TENON_ASSIGN_OR_RETURN(const AttrValue value, op.shapes().AttrOf(attr));
  TENON_ASSIGN_OR_RETURN(const FuncAttr function, value.AsFunc());
  return function.name;
}

Values PartsOf(Op& op, Entry& entry) {
  if (entry.list == nullptr) {
    if (!entry.value) op.lowerer().Write(entry);
    if (!entry.value) return {};
    return {entry.value};
  }
  Values parts;
  if (entry.list->elements) parts.push_back(entry.list->elements);
  if (entry.list->count) parts.push_back(entry.list->count);
  return parts;
}

Entry Renewed(const Entry& entry, absl::Span<const Value> parts) {
  Entry fresh;
  if (entry.list == nullptr) {
    fresh.value = parts.front();
    fresh.info.shape = PartialShape(parts.front().shape);
    return fresh;
  }
  auto list = std::make_shared<ListValue>(*entry.list);
  size_t next = 0;
  if (list->elements) list->elements = parts[next++];
  if (list->count) list->count = parts[next];
  fresh.list = std::move(list);
  fresh.info = entry.info;
  return fresh;
}

bool SameParts(Op& op, Entry& a, Entry& b) {
  if ((a.list == nullptr) != (b.list == nullptr)) return false;
  if (a.list != nullptr && a.list->size != b.list->size) return false;
  const Values x = PartsOf(op, a), y = PartsOf(op, b);
  bool same = x.size() == y.size();
  for (size_t i = 0; same && i < x.size(); ++i)
    same = x[i].shape == y[i].shape && x[i].dtype == y[i].dtype;
  return same;
}

std::vector<CheckFlag> TakeChecks(Lowerer& lowerer, size_t count) {
  std::vector<CheckFlag>& all = lowerer.checks();
  std::vector<CheckFlag> taken(
      std::make_move_iterator(all.begin() + static_cast<std::ptrdiff_t>(count)),
      std::make_move_iterator(all.end()));
  all.resize(count);
  return taken;
}

Value AsCondition(Op& op, const Value& v) {
  if (v.rank() > 0) return op.b.Scalar(DataType::kBool, v.shape.num_elements() > 0 ? 1 : 0);
  return v.dtype == DataType::kBool ? v : op.b.Compare("NE", v, op.b.Like(v, 0));
}

}  // namespace tenon::stablehlo
