/* estimates.h: sizes that only the real libraries know, each with its rule.
 *
 * A library is asked how much scratch memory a call needs, and PyTorch then
 * allocates it. Where the answer follows from the shapes it is computed and not
 * listed here. Where it does not, this table holds the one rule that is used, what
 * the rule rests on, and the interval in which the truth is believed to lie, as
 * percentages of the rule's value. The log names every row that was used, with the
 * largest size asked, so that a report can say what an answer rests on.
 *
 * Two kinds of rows: a rule whose value is given to the caller, and a "ceiling"
 * row, where zero (or the configured constant) is given and the value of the rule
 * is only the upper end of the interval.
 *
 * Columns: id, name, low %, high %, rule, source.
 */
#ifndef PLIMSOLL_ESTIMATES_H
#define PLIMSOLL_ESTIMATES_H

#include <stddef.h>

/* The two public records of cuDNN 7 that the RNN rows rest on. The first prints
 * sizes for an LSTM and a GRU with their parameter counts, which make it four layers
 * of 320 units on 123 inputs; 250 steps of 100 sequences are inferred from the four
 * sizes. The second prints sizes with the shape of the input for a bidirectional
 * layer of 800 units; that it is a GRU is inferred from the size. */
#define VGPU_RNN_RECORDS "github.com/pytorch/pytorch/issues/2895, github.com/SeanNaren/deepspeech.pytorch/issues/172"
#define VGPU_NO_SOURCE "estimate: the library documents the call, not the size"

#define VGPU_ESTIMATES(_) \
	_(CUDNN_CONVOLUTION, "cudnn_convolution", 0, 0, \
	  "cudnn_workspace of the configuration; ceiling: input, filter and output once more", \
	  "estimate: a public recording shows 50-205 KiB for small convolutions") \
	_(CUDNN_ATTENTION, "cudnn_attention", 0, 0, \
	  "cudnn_workspace of the configuration; ceiling: the query gradient and two rows of statistics in fp32", \
	  "estimate: flash attention's backward pass accumulates the query gradient in fp32") \
	_(CUDNN_OTHER_PLAN, "cudnn_other_plan", 0, 0, \
	  "cudnn_workspace of the configuration", VGPU_NO_SOURCE) \
	_(CUDNN_BATCH_NORM, "cudnn_batch_norm", 0, 0, \
	  "0; ceiling: four fp32 vectors of channels per multiprocessor, or one bit an element", VGPU_NO_SOURCE) \
	_(CUDNN_RNN_RESERVE, "cudnn_rnn_reserve", 70, 150, \
	  "steps x batch x hidden x (5 per LSTM, 6 per GRU, 1 per plain layer and direction + 1 per layer and direction but the last layer)", \
	  "exact in " VGPU_RNN_RECORDS "; padding and dropout masks of newer versions may add") \
	_(CUDNN_RNN_WORK, "cudnn_rnn_work", 50, 200, \
	  "all matrices once + 11 (LSTM) or 8 states of every layer and direction + 4 steps x batch x hidden when bidirectional", \
	  "exact for one direction, 5 % below for two in " VGPU_RNN_RECORDS) \
	_(CUDNN_DROPOUT_STATES, "cudnn_dropout_states", 50, 200, \
	  "multiprocessors x threads per multiprocessor x 32 bytes", \
	  "estimate: one random generator per resident thread") \
	_(CUDNN_CTC, "cudnn_ctc", 50, 300, \
	  "steps x batch x (2 x longest label + 1) x 2 fp32 + steps x batch x classes fp32", \
	  "the forward and backward tables of the algorithm, and the normalised input") \
	_(CUFFT_WORK, "cufft_work", 0, 300, \
	  "the complex points once, twice with a prime factor over 127; 0 for one short axis", \
	  "estimate: axes that one kernel transforms need no scratch, others a second buffer") \
	_(CUSOLVER_POTRF, "cusolver_potrf", 0, 400, "n x 64 elements", VGPU_NO_SOURCE) \
	_(CUSOLVER_GETRF, "cusolver_getrf", 0, 400, "m x 64 elements", VGPU_NO_SOURCE) \
	_(CUSOLVER_SYTRF, "cusolver_sytrf", 0, 400, "n x 64 elements", "LAPACK's sytrf with blocks of 64") \
	_(CUSOLVER_GEQRF, "cusolver_geqrf", 0, 400, "n x 64 elements", "LAPACK's geqrf, orgqr and ormqr with blocks of 64") \
	_(CUSOLVER_GESVD, "cusolver_gesvd", 25, 400, "(m + n) x 64 + n x n elements", \
	  "estimate: a blocked bidiagonalisation and one square factor") \
	_(CUSOLVER_GESVDJ, "cusolver_gesvdj", 25, 400, "m x n + 2 n x n elements a matrix", \
	  "estimate: a copy of the matrix and of both rotations") \
	_(CUSOLVER_SYEVD, "cusolver_syevd", 50, 200, "2 n x n + 6 n + 1 elements, 2 n + 64 n without vectors", \
	  "LAPACK's syevd") \
	_(CUSOLVER_SYEVJ, "cusolver_syevj", 25, 400, "2 n x n elements a matrix", \
	  "estimate: a copy of the matrix and the rotations") \
	_(CUSOLVER_GEEV, "cusolver_geev", 25, 400, "3 n x n + 64 n elements", \
	  "estimate: Hessenberg form, Schur vectors and a copy") \
	_(CUSOLVER_SYTRS, "cusolver_sytrs", 0, 400, "n x right-hand sides elements", VGPU_NO_SOURCE) \
	_(CUSPARSE_PRODUCT, "cusparse_product", 0, 0, \
	  "0; ceiling: 16 bytes for each row and each entry", VGPU_NO_SOURCE) \
	_(CUSPARSE_SPGEMM, "cusparse_spgemm", 0, 400, \
	  "24 bytes for each row and each entry of both factors", \
	  "estimate: the intermediate products depend on the values") \
	_(CUSPARSE_SOLVE, "cusparse_solve", 0, 400, "8 bytes for each row and each entry", VGPU_NO_SOURCE) \
	_(CUSPARSE_SORT, "cusparse_sort", 50, 200, "16 bytes for each entry", "a radix sort of pairs needs a second copy") \
	_(CUSPARSELT_WORK, "cusparselt_work", 0, 0, \
	  "0; ceiling: the result once more in fp32", VGPU_NO_SOURCE)

enum vgpu_estimate {
#define VGPU_ESTIMATE_ENUM(id, name, low, high, rule, source) VGPU_ESTIMATE_##id,
	VGPU_ESTIMATES(VGPU_ESTIMATE_ENUM)
#undef VGPU_ESTIMATE_ENUM
	VGPU_ESTIMATE_COUNT
};

/* The size to give to the caller for a rule's value in bytes: the value times
 * estimate_percent of the configuration (100 when absent), whole bytes. Logs
 * "estimate NAME BYTES LOW HIGH" when it is the largest yet. */
size_t vgpu_estimate(enum vgpu_estimate which, double bytes);

/* The same for a ceiling row: gives back what is given to the caller, and logs
 * the ceiling as the upper end of the interval. */
size_t vgpu_ceiling(enum vgpu_estimate which, size_t given, double ceiling_bytes);

#endif
