// Distances of histograms in a hierarchy of values.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

#include "histogram.hpp"

namespace kohorte {

// The earth mover's distance of values in a hierarchy: moving within a group of level h costs h / H.
//
// With extra(node) = p(node) - q(node), the nodes of level h move sum of min(pos, neg) = S(h - 1) - S(h), where S(h) is
// the sum of the positive extras of level h: pos are the positive extras of the children, and neg = pos - extra(node).
// The sum of h / H * (S(h - 1) - S(h)) telescopes to (S(0) + ... + S(H - 1)) / H, also where several groups at the top
// remain to be joined at cost 1. So the distance is the mean of the equal distances of all levels below the top, and
// only groups that a class touches can have a positive extra.
class Tree {
 public:
  Tree(std::span<const Codes> maps, Counts overall) : overall_(overall.begin(), overall.end()) {
    table_ = histogram::check_overall(overall);
    values_ = overall.size();
    if (maps.empty()) throw std::invalid_argument("no levels");
    for (const Codes& map : maps) {
      if (map.size() != values_) throw std::invalid_argument("maps of unequal length");
    }
    if (values_ >= histogram::kNone / maps.size()) throw std::invalid_argument("too many values");
    height_ = maps.size() - 1;
    std::vector<Code> nodes = leaves(maps.front());
    for (std::size_t level = 1; level <= height_; ++level) climb(maps[level], nodes);
  }

  std::vector<double> distances(Starts starts, Codes values, Counts counts) const {
    const histogram::ClassRows rows = histogram::check(starts, values, counts, values_, table_);
    if (height_ == 0) return std::vector<double>(rows.of.size());
    const histogram::Wide scale = histogram::Wide{table_} * static_cast<Count>(height_);
    Scratch scratch{std::vector<Count>(overall_.size()), std::vector<Code>(std::min(values_, values.size()))};
    return histogram::with_room(scale * rows.most, [&]<typename Int>(Int) {
      return histogram::ratios(starts, values, counts, rows, scale, [&](Codes own, Counts own_counts, Count own_rows) {
        return part<Int>(own, own_counts, own_rows, scratch);
      });
    });
  }

  // A lower bound for the rows to remove from each class so that its distance to the whole table is at most `most`.
  //
  // n * distance is convex in the counts of a class. Its slope for a row of value v is f(v) minus the mean of f over the
  // table, f(v) being the share of levels at which the group of v has a positive extra. So removing rows lowers
  // n * (distance - most) by at most their slopes minus `most`; rows with the steepest slope are removed first.
  // `distances` are the distances of the classes; the bound of a class within `most` is 0.
  std::vector<double> removals(Starts starts, Codes values, Counts counts, std::span<const double> distances,
                               double most) const {
    const histogram::ClassRows rows = histogram::check(starts, values, counts, values_, table_);
    if (distances.size() != rows.of.size()) throw std::invalid_argument("classes and distances differ in number");
    std::vector<double> found(rows.of.size());
    std::vector<Count> amounts(overall_.size());
    std::vector<Count> by_levels(height_ + 1);  // the rows whose groups have a positive extra at so many levels
    std::vector<Share> shares;
    for (std::size_t i = 0; height_ > 0 && i < found.size(); ++i) {
      if (distances[i] <= most) continue;
      const Codes own = histogram::cells_of(starts, i, values);
      const Counts own_counts = histogram::cells_of(starts, i, counts);
      const auto own_rows = static_cast<double>(rows.of[i]);
      for (std::size_t k = 0; k < own.size(); ++k) {
        climb(own[k], [&](Code node) { amounts[node] += own_counts[k]; });
      }
      shares.clear();
      for (Code value : own) climb(value, [&](Code node) { add_share(node, amounts, shares); });
      const double kept = most_kept(shares, own_rows, most);
      for (const Share& share : shares) amounts[share.node] = -amounts[share.node];  // as they were
      found[i] = std::max(fewest_removed(own, own_counts, own_rows, most, amounts, by_levels), own_rows - kept);
      for (Code value : own) climb(value, [&](Code node) { amounts[node] = 0; });
    }
    return found;
  }

 private:
  struct Scratch {
    std::vector<Count> counts;  // per node; 0 between two classes
    std::vector<Code> touched;  // the nodes of one level that a class has
  };

  static std::vector<Code> leaves(Codes map) {
    std::vector<Code> sorted(map.begin(), map.end());
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      throw std::invalid_argument("level 0 does not tell all values apart");
    }
    std::vector<Code> nodes(map.size());
    for (std::size_t value = 0; value < nodes.size(); ++value) nodes[value] = static_cast<Code>(value);
    return nodes;
  }

  // Adds a level above the nodes that the values have at the level below.
  void climb(Codes map, std::vector<Code>& nodes) {
    std::unordered_map<Code, Code> numbers;
    parents_.resize(overall_.size(), histogram::kNone);
    for (std::size_t value = 0; value < values_; ++value) {
      const auto [found, is_new] = numbers.emplace(map[value], static_cast<Code>(overall_.size()));
      if (is_new) overall_.push_back(0);
      overall_[found->second] += overall_[value];
      Code& parent = parents_[nodes[value]];
      if (parent == histogram::kNone) parent = found->second;
      if (parent != found->second) throw std::invalid_argument("a level that splits a group of the level below");
      nodes[value] = parent;
    }
  }

  // Calls `visit` for the nodes of a value below the top.
  template <typename Visit>
  void climb(Code node, Visit visit) const {
    for (std::size_t level = 0; level < height_; ++level) {
      visit(node);
      if (level + 1 < height_) node = parents_[node];
    }
  }

  // How many rows of a class a group has, and its share of the table.
  struct Share {
    double own;
    double overall;
    Code node;
  };

  // Adds a group once; its amount is negated to remember that.
  void add_share(Code node, std::vector<Count>& amounts, std::vector<Share>& shares) const {
    if (amounts[node] < 0) return;
    const double overall = static_cast<double>(overall_[node]) / static_cast<double>(table_);
    shares.push_back({static_cast<double>(amounts[node]), overall, node});
    amounts[node] = -amounts[node];
  }

  // An upper bound for the rows that can remain. If m rows remain, a group of share q adds at least m - min(own, q * m)
  // to its level's part of the distance, whichever rows remain. So the sum of min(own, q * m) over all groups and
  // levels is at least height * (1 - most) * m. It is concave in m, and Newton's method approaches the root from above.
  double most_kept(const std::vector<Share>& shares, double rows, double most) const {
    constexpr int kSteps = 4;
    const double wanted = static_cast<double>(height_) * (1.0 - most - histogram::kRounding);
    double kept = rows;
    for (int step = 0; step < kSteps; ++step) {
      double surplus = -wanted * kept;
      double slope = -wanted;
      for (const Share& share : shares) {
        const double room = share.overall * kept;
        surplus += std::min(share.own, room);
        slope += room < share.own ? share.overall : 0.0;
      }
      if (surplus >= 0.0) break;
      if (slope >= 0.0) return rows;  // no root to the left because of rounding: no bound
      kept -= surplus / slope;
    }
    return std::max(kept, 0.0);
  }

  double fewest_removed(Codes values, Counts counts, double rows, double most, std::vector<Count>& amounts,
                        std::vector<Count>& by_levels) const {
    const auto table = static_cast<double>(table_);
    const auto height = static_cast<double>(height_);
    double extra = 0.0;  // n * distance * height
    double mean = 0.0;   // of f over the table
    std::fill(by_levels.begin(), by_levels.end(), 0);
    for (std::size_t k = 0; k < values.size(); ++k) {
      std::size_t levels = 0;
      climb(values[k], [&](Code node) {
        const bool seen = amounts[node] < 0;  // and found to be positive
        const auto own = static_cast<double>(seen ? -amounts[node] : amounts[node]);
        const double more = own - static_cast<double>(overall_[node]) / table * rows;
        if (more <= 0) return;
        ++levels;
        if (seen) return;
        extra += more;
        mean += static_cast<double>(overall_[node]) / table / height;
        amounts[node] = -amounts[node];
      });
      by_levels[levels] += counts[k];
    }
    double needed = extra / height - (most + histogram::kRounding) * rows;
    double removed = 0.0;
    for (std::size_t levels = height_ + 1; needed > 0 && levels-- > 0;) {
      const double gain = static_cast<double>(levels) / height - mean - most;
      if (gain <= 0) return rows;  // no remaining rows would help
      const auto there = static_cast<double>(by_levels[levels]);
      if (needed <= there * gain) return std::min(removed + needed / gain, rows);
      removed += there;
      needed -= there * gain;
    }
    return std::min(removed, rows);
  }

  // The sum of all positive extras below the top, as whole numbers: p * n * N - q * n * N.
  template <typename Int>
  Int part(Codes values, Counts counts, Count rows, Scratch& scratch) const {
    Count* amounts = scratch.counts.data();
    Code* touched = scratch.touched.data();
    const Count* overall = overall_.data();
    const Code* parents = parents_.data();
    const Int table = table_;
    const std::size_t height = height_;
    std::size_t length = 0;
    Int total = 0;
    const auto visit = [&](Code node, Count count, bool last) {
      total += histogram::positive(table * count - Int{overall[node]} * rows);
      if (last) return;
      const Code parent = parents[node];
      touched[length] = parent;  // written in any case, kept if new
      length += amounts[parent] == 0 ? 1 : 0;
      amounts[parent] += count;
    };
    for (std::size_t k = 0; k < values.size(); ++k) visit(values[k], counts[k], height == 1);
    for (std::size_t level = 1; level < height; ++level) {
      const std::size_t nodes = std::exchange(length, 0);
      for (std::size_t k = 0; k < nodes; ++k) {  // parents take the places of nodes already read
        const Code node = touched[k];
        visit(node, std::exchange(amounts[node], 0), level + 1 == height);
      }
    }
    return total;
  }

  Count table_ = 0;
  std::size_t values_ = 0;
  std::size_t height_ = 0;
  std::vector<Count> overall_;  // per node, the values first, then level by level
  std::vector<Code> parents_;   // of all nodes below the top
};

}  // namespace kohorte
