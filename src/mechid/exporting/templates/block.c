/* {{ title }}: block for Simulink (S-function, level 2). In MATLAB: mex {{ name }}_sfun.c {{ name }}.c
   Inputs: coordinates, speeds, accelerations; outputs: forces (nan where they are not known), and
   the code of {{ name }}.h. The way must be continuous: loops are closed from step to step. */
#define S_FUNCTION_NAME {{ name }}_sfun
#define S_FUNCTION_LEVEL 2

#include "simstruc.h"

#include "{{ name }}.h"

#include <math.h>

static void mdlInitializeSizes(SimStruct *S)
{
    int i;
    ssSetNumSFcnParams(S, 0);
    if (ssGetNumSFcnParams(S) != ssGetSFcnParamsCount(S))
        return;
    if (!ssSetNumInputPorts(S, 3) || !ssSetNumOutputPorts(S, 2))
        return;
    for (i = 0; i < 3; ++i) {
        ssSetInputPortWidth(S, i, {{ NAME }}_N);
        ssSetInputPortRequiredContiguous(S, i, 1);
        ssSetInputPortDirectFeedThrough(S, i, 1);
    }
    ssSetOutputPortWidth(S, 0, {{ NAME }}_N);
    ssSetOutputPortWidth(S, 1, 1);
    ssSetNumSampleTimes(S, 1);
    ssSetNumDWork(S, 1);
    ssSetDWorkWidth(S, 0, {{ NAME }}_Q + {{ NAME }}_N);
    ssSetDWorkDataType(S, 0, SS_DOUBLE);
}

static void mdlInitializeSampleTimes(SimStruct *S)
{
    ssSetSampleTime(S, 0, INHERITED_SAMPLE_TIME);
    ssSetOffsetTime(S, 0, 0.0);
}

#define MDL_START
static void mdlStart(SimStruct *S)
{
    {{ name }}_reset(({{ name }}_state *)ssGetDWork(S, 0));
}

static void mdlOutputs(SimStruct *S, int_T tid)
{
    real_T *tau = ssGetOutputPortRealSignal(S, 0), *code = ssGetOutputPortRealSignal(S, 1);
    int i;
    UNUSED_ARG(tid);
    code[0] = {{ name }}_forces(({{ name }}_state *)ssGetDWork(S, 0), &{{ name }}_values,
        (const real_T *)ssGetInputPortSignal(S, 0), (const real_T *)ssGetInputPortSignal(S, 1),
        (const real_T *)ssGetInputPortSignal(S, 2), tau);
    for (i = 0; i < {{ NAME }}_N && code[0] != 0.0; ++i)
        tau[i] = NAN;
}

static void mdlTerminate(SimStruct *S)
{
    UNUSED_ARG(S);
}

#ifdef MATLAB_MEX_FILE
#include "simulink.c"
#else
#include "cg_sfun.h"
#endif
