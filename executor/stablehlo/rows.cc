#include "executor/stablehlo/rows.h"

#include "absl/container/flat_hash_map.h"

namespace tenon::stablehlo {
namespace {

using Table = absl::flat_hash_map<std::string_view, const Row*>;

const Table& AllByName() {
  static const Table* const table = [] {
    auto* all = new Table;
    for (const Rows rows :
         {UnaryRows(),    BinaryRows(),        CastRows(),        ArrayRows(),
          SliceRows(),    ShapeRows(),         ProductRows(),     ConvolutionRows(),
          PoolRows(),     NormalizationRows(), ReductionRows(),   IndexRows(),
          ImageRows(),    SortRows(),          MatrixRows(),      SegmentRows(),
          QuantizeRows(), FusedRows(),         ControlFlowRows(), LoopRows(),
          ListRows()}) {
      for (const Row& row : rows) all->emplace(row.op, &row);
    }
    return all;
  }();
  return *table;
}

}  // namespace

const Row* FindRow(std::string_view op) {
  const auto it = AllByName().find(op);
  return it == AllByName().end() ? nullptr : it->second;
}

std::vector<const Row*> AllRows() {
  std::vector<const Row*> rows;
  for (const auto& [op, row] : AllByName()) rows.push_back(row);
  return rows;
}

}  // namespace tenon::stablehlo
