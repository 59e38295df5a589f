// Places the boxes of a drawing in rows, so that arrows point down.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tenon::cli {

struct LayoutBox {
  double width = 0, height = 0;
  double x = 0, y = 0;  // of the centre
};

// An arrow between boxes, which are indices.
struct LayoutEdge {
  int32_t from = 0, to = 0;
  // From the lower edge of `from` to the upper edge of `to`, with a bend beside the boxes of each
  // row between; beyond a million boxes and bends in a drawing, long edges run straight. Of an edge
  // that closes a loop the other way round: from the upper edge of `from` to the lower one of `to`.
  std::vector<std::pair<double, double>> points;
};

struct LayeredLayout {
  std::vector<LayoutBox> boxes;  // widths and heights are the caller's
  std::vector<LayoutEdge> edges;
  double width = 0, height = 0;  // the upper left corner is (0, 0)
};

// Gives boxes, edges and the drawing their places. A box stands below all that it reads, but for
// edges that close loops, at least one in each. Boxes of a row do not overlap. Edges from a box to
// itself get no points. The same input gives the same places. Takes time near linear in the number
// of edges and of rows that they cross.
void LayOut(LayeredLayout& layout);

}  // namespace tenon::cli
