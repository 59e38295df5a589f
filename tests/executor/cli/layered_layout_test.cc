// Drawings in layers.
#include "executor/cli/graphs/layered_layout.h"

#include <gmock/gmock.h>

#include <cmath>
#include <random>

namespace tenon::cli {
namespace {

LayeredLayout Random(int boxes, int edges, unsigned seed) {
  std::mt19937 random(seed);
  LayeredLayout layout;
  for (int i = 0; i < boxes; ++i)
    layout.boxes.push_back({40.0 + random() % 100, 20.0 + random() % 40});
  for (int i = 0; i < edges; ++i) {
    layout.edges.push_back(
        {static_cast<int32_t>(random() % boxes), static_cast<int32_t>(random() % boxes), {}});
  }
  return layout;
}

bool Overlap(const LayoutBox& a, const LayoutBox& b) {
  return std::abs(a.x - b.x) < (a.width + b.width) / 2 - 1e-6 &&
         std::abs(a.y - b.y) < (a.height + b.height) / 2 - 1e-6;
}

TEST(LayeredLayout, BoxesDoNotOverlapAndLieInTheDrawing) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    LayeredLayout layout = Random(60, 90, seed);
    LayOut(layout);
    for (size_t i = 0; i < layout.boxes.size(); ++i) {
      const LayoutBox& box = layout.boxes[i];
      EXPECT_GE(box.x - box.width / 2, 0);
      EXPECT_GE(box.y - box.height / 2, 0);
      EXPECT_LE(box.x + box.width / 2, layout.width);
      EXPECT_LE(box.y + box.height / 2, layout.height);
      for (size_t j = i + 1; j < layout.boxes.size(); ++j)
        EXPECT_FALSE(Overlap(box, layout.boxes[j])) << seed << ": " << i << ", " << j;
    }
  }
}

TEST(LayeredLayout, EdgesEndAtTheirBoxesAndPointDownWithoutLoops) {
  LayeredLayout layout = Random(50, 0, 3);
  std::mt19937 random(5);
  for (int32_t to = 1; to < 50; ++to)
    layout.edges.push_back({static_cast<int32_t>(random() % to), to, {}});
  LayOut(layout);
  for (const LayoutEdge& edge : layout.edges) {
    const LayoutBox &from = layout.boxes[edge.from], &to = layout.boxes[edge.to];
    ASSERT_GE(edge.points.size(), 2u);
    EXPECT_NEAR(edge.points.front().first, from.x, 1e-6);
    EXPECT_NEAR(edge.points.front().second, from.y + from.height / 2, 1e-6);
    EXPECT_NEAR(edge.points.back().first, to.x, 1e-6);
    EXPECT_NEAR(edge.points.back().second, to.y - to.height / 2, 1e-6);
    for (size_t i = 1; i < edge.points.size(); ++i)
      EXPECT_GT(edge.points[i].second, edge.points[i - 1].second);
  }
}

// A chain is a straight line, also beside an edge that passes it by.
TEST(LayeredLayout, AChainIsStraight) {
  LayeredLayout layout;
  for (int i = 0; i < 30; ++i) layout.boxes.push_back({80, 30});
  for (int32_t i = 1; i < 30; ++i) layout.edges.push_back({i - 1, i, {}});
  LayOut(layout);
  for (const LayoutBox& box : layout.boxes) EXPECT_NEAR(box.x, layout.boxes[0].x, 0.5);
  EXPECT_LT(layout.width, 130);
}

TEST(LayeredLayout, LoopsAndEdgesToItselfEnd) {
  LayeredLayout layout;
  for (int i = 0; i < 3; ++i) layout.boxes.push_back({80, 30});
  layout.edges = {{0, 1, {}}, {1, 2, {}}, {2, 0, {}}, {1, 1, {}}};
  LayOut(layout);
  EXPECT_LT(layout.boxes[0].y, layout.boxes[1].y);
  EXPECT_LT(layout.boxes[1].y, layout.boxes[2].y);
  EXPECT_GT(layout.edges[2].points.front().second, layout.edges[2].points.back().second);
  EXPECT_TRUE(layout.edges[3].points.empty());
  LayeredLayout empty;
  LayOut(empty);
  EXPECT_GT(empty.width, 0);
}

}  // namespace
}  // namespace tenon::cli
