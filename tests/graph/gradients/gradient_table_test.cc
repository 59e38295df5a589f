// The rows of all families.
#include <set>

#include "graph/gradients/families.h"
#include "graph/op_defs/op_registry.h"

namespace tenon::gradients {
namespace {

TEST(GradientTables, EachOpIsKnownAndStandsOnce) {
  std::set<std::string_view> seen;
  for (const absl::Span<const GradientRow> table : AllGradients()) {
    for (const GradientRow& row : table) {
      EXPECT_NE(OpRegistry::Global().Find(row.op), nullptr) << row.op;
      EXPECT_TRUE(seen.insert(row.op).second) << row.op << " stands twice";
      EXPECT_EQ(FindGradientRow(row.op), &row);
    }
  }
  EXPECT_GT(seen.size(), 250u);
}

TEST(GradientTables, AreSorted) {
  for (const absl::Span<const GradientRow> table : AllGradients()) {
    for (size_t i = 1; i < table.size(); ++i)
      EXPECT_LT(std::string_view(table[i - 1].op), table[i].op);
  }
}

}  // namespace
}  // namespace tenon::gradients
