// Where to cut a set of rows in two, for multidimensional partitioning (Mondrian).
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "class_sizes.hpp"

namespace kohorte {

// One cut per region: rows whose position in `attribute` is below `boundary` go to the left, and as many of those at
// `boundary` as are needed for `left` rows in all. An attribute of -1 means that there is no further cut.
struct Cuts {
  std::vector<std::int32_t> attributes;
  std::vector<Code> boundaries;
  std::vector<Count> left;
};

// How wide a region is in an attribute: the share `span / range` of the attribute, times its weight. Widths are compared
// exactly, as fractions of whole numbers.
struct Width {
  std::int64_t span;
  std::int64_t weight;
  std::int64_t range;

  bool some() const { return span > 0 && weight > 0; }

  bool wider_than(const Width& other) const {
    const double own = about(), theirs = other.about();
    if (std::abs(own - theirs) > kCertain * (own + theirs)) return own > theirs;
    const auto left = product(span, weight, other.range), right = product(other.span, other.weight, range);
    return std::lexicographical_compare(right.rbegin(), right.rend(), left.rbegin(), left.rend());
  }

 private:
  // Far above the rounding error of `about`, which is some 1e-15 of the width.
  static constexpr double kCertain = 1e-9;
  using Limbs = std::array<std::uint64_t, 6>;  // of 32 bits each, the lowest first

  double about() const { return static_cast<double>(span) * static_cast<double>(weight) / static_cast<double>(range); }

  static Limbs product(std::int64_t one, std::int64_t two, std::int64_t three) {
    Limbs limbs{1};
    for (const std::int64_t factor : {one, two, three}) limbs = times(limbs, static_cast<std::uint64_t>(factor));
    return limbs;
  }

  static Limbs times(const Limbs& limbs, std::uint64_t factor) {
    constexpr std::uint64_t kLow = 0xffffffff;
    Limbs result{};
    for (std::size_t shift = 0; shift < 2; ++shift) {
      const std::uint64_t digit = shift == 0 ? factor & kLow : factor >> 32U;
      std::uint64_t carry = 0;
      for (std::size_t index = 0; index + shift < limbs.size(); ++index) {
        const std::uint64_t sum = result[index + shift] + limbs[index] * digit + carry;
        result[index + shift] = sum & kLow;
        carry = sum >> 32U;
      }
    }
    return result;
  }
};

// Rows as positions on lines, one line per attribute. Regions are ranges of the rows; a cut reorders the rows.
//
// `ticks[a][p]` is the distance of position p from the beginning of line a, in whole steps, and `weights[a]` the weight
// of the attribute: the attribute in which a region is widest is cut first. `levels[a][p]` is the level of the boundary
// before position p: in a region, only boundaries of the highest level may be cut. A relaxed cut needs no boundary:
// equal rows may go to both sides. It is used, if allowed, when no boundary can be cut.
class Cutter {
 public:
  // How many boundaries of an attribute, nearest to the median, are tried; each attempt reads all rows. Our choice.
  static constexpr std::size_t kNearest = 8;

  Cutter(std::span<const Code> places, std::vector<std::vector<std::int64_t>> ticks, std::vector<std::int64_t> weights,
         std::vector<std::vector<Code>> levels, Count least, bool relaxed)
      : width_(ticks.size()),
        ticks_(std::move(ticks)),
        weights_(std::move(weights)),
        levels_(std::move(levels)),
        least_(least),
        relaxed_(relaxed),
        places_(places.begin(), places.end()) {
    if (width_ == 0 || levels_.size() != width_ || weights_.size() != width_ || places.size() % width_ != 0 ||
        least < 1) {
      throw std::invalid_argument("places, ticks, weights and levels do not fit together");
    }
    std::size_t longest = 0;
    for (std::size_t attribute = 0; attribute < width_; ++attribute) {
      const auto& line = ticks_[attribute];
      if (levels_[attribute].size() != line.size()) throw std::invalid_argument("ticks and levels of unequal length");
      if (weights_[attribute] < 0 || (!line.empty() && line.front() < 0) || !std::is_sorted(line.begin(), line.end())) {
        throw std::invalid_argument("a weight below 0, or ticks that go back");
      }
      longest = std::max(longest, line.size());
      flat_.push_back(std::all_of(levels_[attribute].begin(), levels_[attribute].end(), [](Code at) { return at == 0; }));
    }
    for (std::size_t index = 0; index < places_.size(); ++index) {
      if (places_[index] >= ticks_[index % width_].size()) throw std::invalid_argument("a place beyond its line");
    }
    ids_.resize(places_.size() / width_);
    for (std::size_t row = 0; row < ids_.size(); ++row) ids_[row] = static_cast<Code>(row);
    counts_.assign(longest, 0);
  }

  // The rows in their current order.
  const std::vector<Code>& ids() const { return ids_; }

  // The next cut of each region after `attempts` refused cuts.
  //
  // First comes the cut nearest to the median in every attribute, the widest attribute first; then the second nearest
  // in every attribute, and so on, up to `kNearest`. Only cuts that leave `least` rows on both sides count.
  Cuts propose(std::span<const std::int64_t> begins, std::span<const std::int64_t> ends,
               std::span<const std::int64_t> attempts) {
    check(begins, ends);
    if (attempts.size() != begins.size()) throw std::invalid_argument("regions and attempts do not fit together");
    Cuts cuts;
    for (std::size_t region = 0; region < begins.size(); ++region) {
      const auto found = cut(static_cast<std::size_t>(begins[region]), static_cast<std::size_t>(ends[region]),
                             static_cast<std::size_t>(attempts[region]));
      cuts.attributes.push_back(found.attribute);
      cuts.boundaries.push_back(found.boundary);
      cuts.left.push_back(found.left);
    }
    return cuts;
  }

  // Reorders the rows of every region: those left of its cut come first; otherwise their order is kept.
  void split(std::span<const std::int64_t> begins, std::span<const std::int64_t> ends,
             std::span<const std::int32_t> attributes, std::span<const Code> boundaries, std::span<const Count> left) {
    check(begins, ends);
    if (attributes.size() != begins.size() || boundaries.size() != begins.size() || left.size() != begins.size()) {
      throw std::invalid_argument("regions and cuts do not fit together");
    }
    for (std::size_t region = 0; region < begins.size(); ++region) {
      if (attributes[region] < 0 || static_cast<std::size_t>(attributes[region]) >= width_) {
        throw std::invalid_argument("a cut along no attribute");
      }
      move(static_cast<std::size_t>(begins[region]), static_cast<std::size_t>(ends[region]),
           static_cast<std::size_t>(attributes[region]), boundaries[region], left[region]);
    }
  }

 private:
  struct Cut {
    std::int32_t attribute = -1;
    Code boundary = 0;
    Count left = 0;
  };
  struct Candidate {
    Cut cut;
    std::size_t rank;   // by the distance of the boundary from the median
    std::size_t order;  // by the width of the attribute: 0 is the widest
  };

  void check(std::span<const std::int64_t> begins, std::span<const std::int64_t> ends) const {
    if (begins.size() != ends.size()) throw std::invalid_argument("regions without end");
    for (std::size_t region = 0; region < begins.size(); ++region) {
      if (begins[region] < 0 || ends[region] < begins[region] ||
          static_cast<std::size_t>(ends[region]) > ids_.size()) {
        throw std::invalid_argument("a region beyond the rows");
      }
    }
  }

  Cut cut(std::size_t begin, std::size_t end, std::size_t attempt) {
    candidates_.clear();
    if (end - begin < 2 * static_cast<std::size_t>(least_)) return {};
    measure(begin, end);
    for (std::size_t order = 0; order < width_; ++order) {
      collect(begin, end, order);
      if (attempt == 0 && !candidates_.empty()) break;  // nothing comes before it
    }
    if (relaxed_ && attempt >= candidates_.size()) collect_relaxed(begin, end);
    if (attempt >= candidates_.size()) return {};
    const auto before = [](const Candidate& one, const Candidate& other) {
      return one.rank != other.rank ? one.rank < other.rank : one.order < other.order;
    };
    const auto wanted = candidates_.begin() + static_cast<std::ptrdiff_t>(attempt);
    std::nth_element(candidates_.begin(), wanted, candidates_.end(), before);
    return wanted->cut;
  }

  // The lowest and the highest position of a region in every attribute, and the attributes by decreasing width; of
  // equally wide ones the first comes first.
  void measure(std::size_t begin, std::size_t end) {
    const auto first = places_.begin() + static_cast<std::ptrdiff_t>(begin * width_);
    lowest_.assign(first, first + static_cast<std::ptrdiff_t>(width_));
    highest_ = lowest_;
    for (std::size_t row = begin + 1; row < end; ++row) {
      const Code* places = places_.data() + row * width_;
      for (std::size_t attribute = 0; attribute < width_; ++attribute) {
        lowest_[attribute] = std::min(lowest_[attribute], places[attribute]);
        highest_[attribute] = std::max(highest_[attribute], places[attribute]);
      }
    }
    widths_.clear();
    widest_.clear();
    for (std::size_t attribute = 0; attribute < width_; ++attribute) {
      const auto& ticks = ticks_[attribute];
      const std::int64_t range = std::max<std::int64_t>(1, ticks.back() - ticks.front());
      widths_.push_back({ticks[highest_[attribute]] - ticks[lowest_[attribute]], weights_[attribute], range});
      widest_.push_back(attribute);
    }
    std::stable_sort(widest_.begin(), widest_.end(),
                     [this](auto one, auto other) { return widths_[one].wider_than(widths_[other]); });
  }

  // The different positions of a region in an attribute, in order, and the number of rows at each.
  void count(std::size_t begin, std::size_t end, std::size_t attribute) {
    here_.clear();
    const Code lowest = lowest_[attribute], highest = highest_[attribute];
    if (highest - lowest <= 2 * (end - begin)) {
      for (std::size_t row = begin; row < end; ++row) ++counts_[places_[row * width_ + attribute]];
      for (Code place = lowest; place <= highest; ++place) {
        if (counts_[place] != 0) here_.emplace_back(place, counts_[place]);
        counts_[place] = 0;
      }
      return;
    }
    sorted_.clear();
    for (std::size_t row = begin; row < end; ++row) sorted_.push_back(places_[row * width_ + attribute]);
    std::sort(sorted_.begin(), sorted_.end());
    for (const Code place : sorted_) {
      if (here_.empty() || here_.back().first != place) here_.emplace_back(place, 0);
      ++here_.back().second;
    }
  }

  void collect(std::size_t begin, std::size_t end, std::size_t order) {
    const std::size_t attribute = widest_[order];
    count(begin, end, attribute);
    const auto rows = static_cast<Count>(end - begin);
    if (here_.size() < 2) return;
    const auto first = static_cast<std::ptrdiff_t>(candidates_.size());
    collect_boundaries(attribute, rows, order);
    const auto nearer = [rows](const Candidate& one, const Candidate& other) {
      const Count of_one = std::abs(2 * one.cut.left - rows), of_other = std::abs(2 * other.cut.left - rows);
      return of_one != of_other ? of_one < of_other : one.cut.boundary < other.cut.boundary;
    };
    std::sort(candidates_.begin() + first, candidates_.end(), nearer);
    const auto found = candidates_.size() - static_cast<std::size_t>(first);
    candidates_.resize(static_cast<std::size_t>(first) + std::min(found, kNearest));
    std::size_t rank = 0;
    for (auto candidate = candidates_.begin() + first; candidate != candidates_.end(); ++candidate) {
      candidate->rank = rank++;
    }
  }

  void collect_boundaries(std::size_t attribute, Count rows, std::size_t order) {
    between_.clear();
    Code highest = 0;
    const auto& levels = levels_[attribute];
    for (std::size_t index = 1; index < here_.size(); ++index) {
      const Code level = flat_[attribute] ? 0 : *std::max_element(levels.begin() + here_[index - 1].first + 1,
                                           levels.begin() + here_[index].first + 1);
      between_.push_back(level);
      highest = std::max(highest, level);
    }
    Count left = 0;
    for (std::size_t index = 1; index < here_.size(); ++index) {
      left += here_[index - 1].second;
      if (between_[index - 1] == highest && left >= least_ && rows - left >= least_) {
        candidates_.push_back({{static_cast<std::int32_t>(attribute), here_[index].first, left}, 0, order});
      }
    }
  }

  // Relaxed cuts in the middle of the rows, which come after all others. An attribute in which all rows are equal is
  // used only if they are equal in all attributes.
  void collect_relaxed(std::size_t begin, std::size_t end) {
    const auto rows = static_cast<Count>(end - begin);
    for (std::size_t order = 0; order < width_; ++order) {
      const std::size_t attribute = widest_[order];
      if (!widths_[attribute].some() && order > 0) break;
      count(begin, end, attribute);
      Count below = 0;
      std::size_t middle = 0;
      while (2 * (below + here_[middle].second) < rows) below += here_[middle++].second;
      const Cut cut{static_cast<std::int32_t>(attribute), here_[middle].first, rows / 2};
      candidates_.push_back({cut, std::numeric_limits<std::size_t>::max(), order});
    }
  }

  void move(std::size_t begin, std::size_t end, std::size_t attribute, Code boundary, Count left) {
    Count at_boundary = left;
    for (std::size_t row = begin; row < end; ++row) at_boundary -= places_[row * width_ + attribute] < boundary;
    moved_ids_.clear();
    moved_.clear();
    std::size_t to = begin;
    for (std::size_t row = begin; row < end; ++row) {
      const Code place = places_[row * width_ + attribute];
      const bool stays = place < boundary || (place == boundary && at_boundary-- > 0);
      const auto from = places_.begin() + static_cast<std::ptrdiff_t>(row * width_);
      if (stays) {
        ids_[to] = ids_[row];
        std::copy_n(from, width_, places_.begin() + static_cast<std::ptrdiff_t>(to * width_));
        ++to;
      } else {
        moved_ids_.push_back(ids_[row]);
        moved_.insert(moved_.end(), from, from + static_cast<std::ptrdiff_t>(width_));
      }
    }
    std::copy(moved_ids_.begin(), moved_ids_.end(), ids_.begin() + static_cast<std::ptrdiff_t>(to));
    std::copy(moved_.begin(), moved_.end(), places_.begin() + static_cast<std::ptrdiff_t>(to * width_));
  }

  std::size_t width_;
  std::vector<std::vector<std::int64_t>> ticks_;
  std::vector<std::int64_t> weights_;
  std::vector<std::vector<Code>> levels_;
  std::vector<bool> flat_;  // all boundaries of the attribute are of one level
  Count least_;
  bool relaxed_;
  std::vector<Code> places_;  // row by row, in the order of ids_
  std::vector<Code> ids_;
  // Scratch memory.
  std::vector<Count> counts_;
  std::vector<std::pair<Code, Count>> here_;
  std::vector<Code> lowest_, highest_, sorted_, between_, moved_, moved_ids_;
  std::vector<Width> widths_;
  std::vector<std::size_t> widest_;
  std::vector<Candidate> candidates_;
};

}  // namespace kohorte
