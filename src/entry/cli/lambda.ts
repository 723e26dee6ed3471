// What is deployed to Lambda.
export { handler } from '../service/aws-lambda.ts'
