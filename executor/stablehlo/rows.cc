#include "executor/stablehlo/rows.h"

#include <utility>

#include "absl/container/flat_hash_map.h"
#include "executor/stablehlo/lowerability.h"

namespace tenon::stablehlo {
namespace {

struct RowEntry {
  const Row* row;
  OpGroup group;
};
using Table = absl::flat_hash_map<std::string_view, RowEntry>;

const Table& AllByName() {
  static const Table* const table = [] {
    auto* all = new Table;
    using enum OpGroup;
    const std::pair<Rows, OpGroup> families[] = {{UnaryRows(), kPointwise},
                                                 {BinaryRows(), kPointwise},
                                                 {CastRows(), kPointwise},
                                                 {ArrayRows(), kMisc},
                                                 {SliceRows(), kMisc},
                                                 {ShapeRows(), kMisc},
                                                 {ProductRows(), kNone},
                                                 {ConvolutionRows(), kNone},
                                                 {PoolRows(), kReduceWindow},
                                                 {NormalizationRows(), kNormalization},
                                                 {ReductionRows(), kReduction},
                                                 {IndexRows(), kNone},
                                                 {ImageRows(), kNone},
                                                 {SortRows(), kNone},
                                                 {MatrixRows(), kNone},
                                                 {EliminationRows(), kNone},
                                                 {RandomRows(), kNone},
                                                 {SegmentRows(), kNone},
                                                 {QuantizeRows(), kNone},
                                                 {FusedRows(), kNone},
                                                 {ControlFlowRows(), kNone},
                                                 {LoopRows(), kNone},
                                                 {ListRows(), kNone}};
    for (const auto& [rows, group] : families) {
      for (const Row& row : rows) all->emplace(row.op, RowEntry{&row, group});
    }
    return all;
  }();
  return *table;
}

}  // namespace

const Row* FindRow(std::string_view op) {
  const auto it = AllByName().find(op);
  return it == AllByName().end() ? nullptr : it->second.row;
}

OpGroup GroupOf(std::string_view op) {
  const auto it = AllByName().find(op);
  return it == AllByName().end() ? OpGroup::kNone : it->second.group;
}

std::vector<const Row*> AllRows() {
  std::vector<const Row*> rows;
  for (const auto& [op, entry] : AllByName()) rows.push_back(entry.row);
  return rows;
}

}  // namespace tenon::stablehlo
