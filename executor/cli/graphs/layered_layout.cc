// Sugiyama's method: rows by the longest path, then the order in each row by the mean place of
// neighbours, then x by least squares under the order. An edge over several rows has a bend in each
// row between.

#include "executor/cli/graphs/layered_layout.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tenon::cli {
namespace {

constexpr double kGapX = 24, kGapY = 44, kMargin = 16, kBendWidth = 10;
constexpr int kOrderSweeps = 12, kPlaceSweeps = 8;
constexpr size_t kMostItems = 1000000;  // beyond them long edges run straight

// A box, or the bend of a long edge.
struct Item {
  double width = 0;
  int32_t row = 0;
  double x = 0;      // of the centre
  double order = 0;  // the place in the row, or what it should be
  std::vector<int32_t> above, below;
};

// An edge that points down, as the items that it goes through.
struct Chain {
  size_t edge;
  bool reversed;  // it closes a loop, and goes from `to` to `from`
  std::vector<int32_t> items;
};

class Layering {
 public:
  explicit Layering(LayeredLayout& layout) : layout_(layout), items_(layout.boxes.size()) {
    for (size_t i = 0; i < items_.size(); ++i) items_[i].width = layout.boxes[i].width;
  }

  void Run() {
    FindChains();
    FindRows();
    AddBends();
    FillRows();
    Order();
    PlaceX();
    PlaceBoxes();
    PlaceEdges();
  }

 private:
  void FindChains();
  void FindRows();
  void AddBends();
  void FillRows();
  void Order();
  void OrderRow(std::vector<int32_t>& row, bool by_above);
  void PlaceX();
  void PlaceRow(const std::vector<int32_t>& row, const std::vector<double>& wanted);
  void PlaceBoxes();
  void PlaceEdges();

  LayeredLayout& layout_;
  std::vector<Item> items_;
  std::vector<Chain> chains_;
  std::vector<int32_t> order_;  // boxes, each behind those that its chains come from
  std::vector<std::vector<int32_t>> rows_;
  std::vector<double> row_y_;  // of the middle
};

// Finds edges that close loops, by a search from the boxes in their order, and an order of boxes.
void Layering::FindChains() {
  const size_t boxes = layout_.boxes.size();
  std::vector<std::vector<size_t>> out(boxes);
  for (size_t e = 0; e < layout_.edges.size(); ++e) {
    const LayoutEdge& edge = layout_.edges[e];
    if (edge.from != edge.to) out[edge.from].push_back(e);
  }
  enum class State : uint8_t { kNew, kOpen, kDone };
  std::vector<State> state(boxes, State::kNew);
  std::vector<std::pair<int32_t, size_t>> stack;  // a box, and the next of its edges
  for (size_t root = 0; root < boxes; ++root) {
    if (state[root] != State::kNew) continue;
    state[root] = State::kOpen;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      const int32_t box = stack.back().first;
      if (stack.back().second == out[box].size()) {
        state[box] = State::kDone;
        order_.push_back(box);
        stack.pop_back();
        continue;
      }
      const size_t e = out[box][stack.back().second++];
      const int32_t to = layout_.edges[e].to;
      const bool reversed = state[to] == State::kOpen;
      chains_.push_back({e, reversed, reversed ? std::vector{to, box} : std::vector{box, to}});
      if (state[to] != State::kNew) continue;
      state[to] = State::kOpen;
      stack.emplace_back(to, 0);
    }
  }
  std::reverse(order_.begin(), order_.end());
}

void Layering::FindRows() {
  for (size_t c = 0; c < chains_.size(); ++c) {
    items_[chains_[c].items[0]].below.push_back(chains_[c].items[1]);
    items_[chains_[c].items[1]].above.push_back(chains_[c].items[0]);
  }
  for (const int32_t box : order_) {
    for (const int32_t above : items_[box].above)
      items_[box].row = std::max(items_[box].row, items_[above].row + 1);
  }
  // What reads nothing stands right above its first reader.
  for (const int32_t box : order_) {
    Item& item = items_[box];
    if (!item.above.empty() || item.below.empty()) continue;
    int32_t first = items_[item.below[0]].row;
    for (const int32_t below : item.below) first = std::min(first, items_[below].row);
    item.row = first - 1;
  }
  for (Item& item : items_) {
    item.above.clear();
    item.below.clear();
  }
}

void Layering::AddBends() {
  for (Chain& chain : chains_) {
    const int32_t from = chain.items[0], to = chain.items[1];
    chain.items = {from};
    for (int32_t row = items_[from].row + 1; row < items_[to].row && items_.size() < kMostItems;
         ++row) {
      chain.items.push_back(static_cast<int32_t>(items_.size()));
      items_.push_back({.width = kBendWidth, .row = row});
    }
    chain.items.push_back(to);
    for (size_t i = 1; i < chain.items.size(); ++i) {
      items_[chain.items[i - 1]].below.push_back(chain.items[i]);
      items_[chain.items[i]].above.push_back(chain.items[i - 1]);
    }
  }
}

// Puts the items into their rows, in the order in which the boxes were found.
void Layering::FillRows() {
  const auto add = [this](int32_t item) {
    const auto row = static_cast<size_t>(items_[item].row);
    if (rows_.size() <= row) rows_.resize(row + 1);
    items_[item].order = static_cast<double>(rows_[row].size());
    rows_[row].push_back(item);
  };
  for (const int32_t box : order_) add(box);
  for (size_t bend = layout_.boxes.size(); bend < items_.size(); ++bend)
    add(static_cast<int32_t>(bend));
}

void Layering::OrderRow(std::vector<int32_t>& row, bool by_above) {
  std::vector<std::pair<double, int32_t>> wanted;
  for (const int32_t i : row) {
    const std::vector<int32_t>& others = by_above ? items_[i].above : items_[i].below;
    double sum = 0;
    for (const int32_t other : others) sum += items_[other].order;
    wanted.emplace_back(others.empty() ? items_[i].order : sum / static_cast<double>(others.size()),
                        i);
  }
  std::stable_sort(wanted.begin(), wanted.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] = wanted[i].second;
    items_[row[i]].order = static_cast<double>(i);
  }
}

void Layering::Order() {
  for (int sweep = 0; sweep < kOrderSweeps; ++sweep) {
    for (size_t r = 1; r < rows_.size(); ++r) OrderRow(rows_[r], true);
    for (size_t r = rows_.size(); r-- > 1;) OrderRow(rows_[r - 1], false);
  }
}

// Places a row as close to what is wanted as the order and the gaps allow, by the sum of squares:
// neighbours that would overlap move together.
void Layering::PlaceRow(const std::vector<int32_t>& row, const std::vector<double>& wanted) {
  struct Block {
    double sum;  // of what the members want for the first one
    size_t first, count;
    double x() const { return sum / static_cast<double>(count); }
  };
  std::vector<double> offset(row.size(), 0);
  for (size_t i = 1; i < row.size(); ++i) {
    offset[i] = offset[i - 1] + (items_[row[i - 1]].width + items_[row[i]].width) / 2 + kGapX;
  }
  std::vector<Block> blocks;
  for (size_t i = 0; i < row.size(); ++i) {
    blocks.push_back({wanted[i] - offset[i], i, 1});
    while (blocks.size() > 1 && blocks[blocks.size() - 2].x() > blocks.back().x()) {
      const Block last = blocks.back();
      blocks.pop_back();
      blocks.back().sum += last.sum;
      blocks.back().count += last.count;
    }
  }
  for (const Block& block : blocks) {
    for (size_t i = block.first; i < block.first + block.count; ++i)
      items_[row[i]].x = block.x() + offset[i];
  }
}

void Layering::PlaceX() {
  for (const std::vector<int32_t>& row : rows_) PlaceRow(row, std::vector<double>(row.size(), 0.0));
  for (int sweep = 0; sweep < kPlaceSweeps; ++sweep) {
    const bool down = sweep % 2 == 0;
    for (size_t r = 0; r < rows_.size(); ++r) {
      const std::vector<int32_t>& row = rows_[down ? r : rows_.size() - 1 - r];
      std::vector<double> wanted;
      for (const int32_t i : row) {
        const Item& item = items_[i];
        // In the last two sweeps both sides count, so that long chains become straight.
        double sum = 0, count = 0;
        const bool both = sweep >= kPlaceSweeps - 2;
        for (const int32_t other : item.above) sum += down || both ? items_[other].x : 0;
        for (const int32_t other : item.below) sum += !down || both ? items_[other].x : 0;
        count += down || both ? static_cast<double>(item.above.size()) : 0;
        count += !down || both ? static_cast<double>(item.below.size()) : 0;
        wanted.push_back(count > 0 ? sum / count : item.x);
      }
      PlaceRow(row, wanted);
    }
  }
}

void Layering::PlaceBoxes() {
  double left = 0, right = 0, y = kMargin;
  for (const Item& item : items_) left = std::min(left, item.x - item.width / 2);
  for (Item& item : items_) {
    item.x += kMargin - left;
    right = std::max(right, item.x + item.width / 2);
  }
  for (const std::vector<int32_t>& row : rows_) {
    double height = 0;
    for (const int32_t i : row) {
      if (static_cast<size_t>(i) < layout_.boxes.size())
        height = std::max(height, layout_.boxes[i].height);
    }
    row_y_.push_back(y + height / 2);
    y += height + kGapY;
  }
  for (size_t i = 0; i < layout_.boxes.size(); ++i) {
    layout_.boxes[i].x = items_[i].x;
    layout_.boxes[i].y = row_y_[items_[i].row];
  }
  layout_.width = right + kMargin;
  layout_.height = rows_.empty() ? 2 * kMargin : y - kGapY + kMargin;
}

void Layering::PlaceEdges() {
  for (const Chain& chain : chains_) {
    std::vector<std::pair<double, double>> points;
    for (const int32_t i : chain.items) points.emplace_back(items_[i].x, row_y_[items_[i].row]);
    points.front().second += layout_.boxes[chain.items.front()].height / 2;
    points.back().second -= layout_.boxes[chain.items.back()].height / 2;
    if (chain.reversed) std::reverse(points.begin(), points.end());
    layout_.edges[chain.edge].points = std::move(points);
  }
}

}  // namespace

void LayOut(LayeredLayout& layout) {
  for (LayoutEdge& edge : layout.edges) edge.points.clear();
  Layering(layout).Run();
}

}  // namespace tenon::cli
