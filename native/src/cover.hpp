// Which node of a lattice, if it can be excluded together with all nodes below (or above) it, settles most?
//
// A lattice of the given shape is stored as a flat array, last axis fastest.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

namespace kohorte {

struct Cover {
  std::int64_t index = -1;  // -1: no node covers anything
  double gain = 0.0;
};

namespace detail {

// Calls `visit(low, high, length)` for every run of neighbouring pairs along one axis, in rising order.
template <typename Visit>
void along(std::span<const std::size_t> shape, std::size_t axis, std::size_t size, bool reversed, Visit visit) {
  std::size_t stride = 1;
  for (std::size_t a = axis + 1; a < shape.size(); ++a) stride *= shape[a];
  const std::size_t block = stride * shape[axis];
  for (std::size_t start = 0; start < size; start += block) {
    for (std::size_t step = 1; step < shape[axis]; ++step) {
      const std::size_t level = reversed ? shape[axis] - step : step;
      visit(start + (level - 1) * stride, start + level * stride, stride);
    }
  }
}

}  // namespace detail

// The extreme open nodes (maximal ones, or minimal ones when `upward`) must each be covered by a node above
// (below) them. A node's gain is the number of extreme nodes that it covers times the probability that it can be
// excluded, which rises with its score as (1 + s / sqrt(1 + s^2)) / 2. Barred nodes are no candidates.
inline Cover best_cover(std::span<const std::size_t> shape, std::span<const std::uint8_t> open,
                        std::span<const std::uint8_t> barred, std::span<const double> score, bool upward) {
  std::size_t size = 1;
  for (std::size_t length : shape) size *= length;
  if (open.size() != size || barred.size() != size || score.size() != size) {
    throw std::invalid_argument("arrays do not fit the shape");
  }
  std::vector<std::int32_t> covered(open.begin(), open.end());
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    detail::along(shape, axis, size, false, [&](std::size_t low, std::size_t high, std::size_t length) {
      const std::size_t loser = upward ? high : low;
      const std::size_t winner = upward ? low : high;
      for (std::size_t i = 0; i < length; ++i) covered[loser + i] &= open[winner + i] - 1;
    });
  }
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    detail::along(shape, axis, size, upward, [&](std::size_t low, std::size_t high, std::size_t length) {
      const std::size_t from = upward ? high : low;
      const std::size_t to = upward ? low : high;
      for (std::size_t i = 0; i < length; ++i) covered[to + i] += covered[from + i];
    });
  }
  Cover best;
  for (std::size_t i = 0; i < size; ++i) {
    if (covered[i] == 0 || barred[i] != 0) continue;
    const double gain = covered[i] * (0.5 * (1.0 + score[i] / std::sqrt(1.0 + score[i] * score[i])));
    if (gain > best.gain) best = {static_cast<std::int64_t>(i), gain};
  }
  return best;
}

}  // namespace kohorte
