// How the work of a product is divided: tables of the parts that a work-group or a work-item may
// take, and which of them suit a product.
#pragma once

#include <vector>

#include "gemm.h"

namespace opencl {

// A GPU's part of a work-group, bm x bn results, for which bk of k are in local memory at a time;
// each work-item has tm x tn.
struct Tile {
  int bm, bn, bk, tm, tn;
  int items() const { return bm / tm * (bn / tn); }
};

// How a GPU computes a product: the tile, whether the product is one of whole tiles (gemm.cl,
// WHOLE), and among how many work-groups k is split.
struct Plan {
  Tile tile;
  bool whole = false;
  int split = 1;
};

Plan MakePlan(const Device& device, const Gemm& gemm);
// Plans of which one may be faster; the first is that of MakePlan.
std::vector<Plan> PlansToTry(const Device& device, const Gemm& gemm);

// A CPU's part of a work-item, rows x columns results, in vectors of `vector`.
struct Panel {
  int rows, columns, vector;
};

Panel MakePanel(const Device& device, const Gemm& gemm);
// Panels of which one may be faster; the first is that of MakePanel.
std::vector<Panel> PanelsToTry(const Device& device, const Gemm& gemm);

}  // namespace opencl
