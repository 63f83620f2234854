// Remembers which nodes are stored, from which coarser nodes can be counted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <vector>

namespace kohorte {

// A bounded list of nodes of a lattice, each with its number of rows. When it is full, a new node replaces the least
// recently used one.
class Shelf {
 public:
  using Node = std::span<const std::size_t>;

  Shelf(std::size_t axes, std::size_t places) : axes_(axes), places_(places) {
    if (axes == 0 || places == 0) throw std::invalid_argument("a shelf without places");
  }

  // The index of the node with the fewest rows at or below the given node, or -1; the node counts as used.
  std::int64_t find(Node node) {
    check(node);
    std::int64_t found = -1;
    for (std::size_t place = 0; place < rows_.size(); ++place) {
      if (found >= 0 && rows_[place] >= rows_[static_cast<std::size_t>(found)]) continue;
      if (is_below(place, node)) found = static_cast<std::int64_t>(place);
    }
    if (found >= 0) used_[static_cast<std::size_t>(found)] = ++clock_;
    return found;
  }

  // Stores a node, and returns its index.
  std::size_t put(Node node, std::int64_t rows) {
    check(node);
    std::size_t place = rows_.size();
    if (place < places_) {
      levels_.resize(levels_.size() + axes_);
      rows_.push_back(0);
      used_.push_back(0);
    } else {
      place = 0;
      for (std::size_t other = 1; other < places_; ++other) place = used_[other] < used_[place] ? other : place;
    }
    for (std::size_t a = 0; a < axes_; ++a) levels_[place * axes_ + a] = node[a];
    rows_[place] = rows;
    used_[place] = ++clock_;
    return place;
  }

 private:
  void check(Node node) const {
    if (node.size() != axes_) throw std::invalid_argument("one level per attribute, please");
  }

  bool is_below(std::size_t place, Node node) const {
    for (std::size_t a = 0; a < axes_; ++a) {
      if (levels_[place * axes_ + a] > node[a]) return false;
    }
    return true;
  }

  std::size_t axes_;
  std::size_t places_;
  std::vector<std::size_t> levels_;
  std::vector<std::int64_t> rows_;
  std::vector<std::uint64_t> used_;
  std::uint64_t clock_ = 0;
};

}  // namespace kohorte
